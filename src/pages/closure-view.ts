import type { Closure } from '../records/closure.ts'
import { html, type Markup } from './html.ts'
import { renderSmallPage } from './site-page.ts'
import { wordsFor } from './words.ts'

interface Words {
  /** The language of the dates. */
  tag: string
  /** What an admin is told. */
  notice: ForEach
  title: Record<Closure['reason'], string>
  detail: ForEach
  signIn: string
}

/** A sentence for each reason. */
interface ForEach {
  asleep: (until: string) => string
  suspended: string | null
  ended: (since: string) => string
}

const english: Words = {
  tag: 'en-GB',
  notice: {
    asleep: until => `Only admins see this site until it opens on ${until}.`,
    suspended: 'Only admins see this site, because it is suspended.',
    ended: since => `Only admins see this site, because it closed on ${since}.`,
  },
  title: {
    asleep: 'This site is not open yet',
    suspended: 'This site is suspended',
    ended: 'This site has closed',
  },
  detail: { asleep: until => `It opens on ${until}.`, suspended: null, ended: since => `It closed on ${since}.` },
  signIn: 'Sign in as an admin',
}

const translations: Record<string, Words> = {
  de: {
    tag: 'de',
    notice: {
      asleep: until => `Nur Admins sehen diese Website, bis sie am ${until} öffnet.`,
      suspended: 'Nur Admins sehen diese Website, denn sie ist gesperrt.',
      ended: since => `Nur Admins sehen diese Website, denn sie wurde am ${since} geschlossen.`,
    },
    title: {
      asleep: 'Diese Website ist noch nicht geöffnet',
      suspended: 'Diese Website ist gesperrt',
      ended: 'Diese Website ist geschlossen',
    },
    detail: {
      asleep: until => `Sie öffnet am ${until}.`,
      suspended: null,
      ended: since => `Sie wurde am ${since} geschlossen.`,
    },
    signIn: 'Als Admin anmelden',
  },
  fr: {
    tag: 'fr',
    notice: {
      asleep: until => `Seuls les administrateurs voient ce site jusqu’à son ouverture le ${until}.`,
      suspended: 'Seuls les administrateurs voient ce site, car il est suspendu.',
      ended: since => `Seuls les administrateurs voient ce site, car il a fermé le ${since}.`,
    },
    title: {
      asleep: 'Ce site n’est pas encore ouvert',
      suspended: 'Ce site est suspendu',
      ended: 'Ce site est fermé',
    },
    detail: { asleep: until => `Il ouvrira le ${until}.`, suspended: null, ended: since => `Il a fermé le ${since}.` },
    signIn: 'Se connecter en tant qu’administrateur',
  },
}

/** Renders the line that tells an admin why others do not see the site. Nothing if they do. */
export function renderClosureNotice(closure: Closure | null, locale: string): Markup | null {
  if (closure === null) return null
  const words = wordsFor(locale, translations, english)
  return html`<p class="notice">${choose(closure, words.notice, words)}</p>`
}

/**
 * Renders what visitors see of a closed site.
 * @param name the name of the site
 * @param signIn the address of the page where admins sign in
 */
export function renderClosedPage(closure: Closure, name: string, locale: string, signIn: string): string {
  const words = wordsFor(locale, translations, english)
  const title = words.title[closure.reason]
  const detail = choose(closure, words.detail, words)
  const main = html`${detail !== null && html`<p>${detail}</p>`}
      <p><a href="${signIn}">${words.signIn}</a></p>`
  return renderSmallPage({ locale, name, title, main })
}

function choose(closure: Closure, { asleep, suspended, ended }: ForEach, words: Words): string | null {
  switch (closure.reason) {
    case 'asleep':
      return asleep(write(closure.until, words))
    case 'suspended':
      return suspended
    case 'ended':
      return ended(write(closure.since, words))
  }
}

function write(time: Date, { tag }: Words): string {
  return time.toLocaleString(tag, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })
}
