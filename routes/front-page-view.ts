import type { User } from '../plugins/firewall.ts'
import type { Language } from '../src/entities/language.ts'
import type { License } from '../src/entities/license.ts'
import { html } from '../src/pages/html.ts'
import { formStyle, renderPage } from '../src/pages/page.ts'
import { renderSignOut } from './login-view.ts'
import type { MuseumPage } from './museum-page.ts'
import { wordsFor } from './words.ts'

export interface FrontPage {
  license: License
  locale: string
  /** The language in the request's query, if any. */
  chosenLocale: string | null
  page: MuseumPage
  /** The cursor in the request's query, or null on the first page. */
  cursor: string | null
  languages: readonly Language[]
  /** The signed-in user. */
  user: User | null
}

const english = {
  museums: 'Museums',
  languages: 'Languages',
  noMuseums: 'There are no museums here yet.',
  noMoreMuseums: 'There are no more museums.',
  pages: 'Pages',
  first: 'First page',
  previous: 'Previous',
  next: 'Next',
  signOut: 'Sign out',
}
const translations: Record<string, typeof english> = {
  de: {
    museums: 'Museen',
    languages: 'Sprachen',
    noMuseums: 'Hier gibt es noch keine Museen.',
    noMoreMuseums: 'Es gibt keine weiteren Museen.',
    pages: 'Seiten',
    first: 'Erste Seite',
    previous: 'Zurück',
    next: 'Weiter',
    signOut: 'Abmelden',
  },
  fr: {
    museums: 'Musées',
    languages: 'Langues',
    noMuseums: 'Il n’y a pas encore de musées ici.',
    noMoreMuseums: 'Il n’y a plus de musées.',
    pages: 'Pages',
    first: 'Première page',
    previous: 'Précédent',
    next: 'Suivant',
    signOut: 'Se déconnecter',
  },
}

/** Renders the front page of a licensed site. */
export function renderFrontPage(content: FrontPage): string {
  const {
    license,
    locale,
    page: { museums },
    cursor,
    languages,
    user,
  } = content
  const words = wordsFor(locale, translations, english)
  return renderPage({
    language: locale,
    title: license.name,
    style: user !== null && formStyle,
    header: [
      user !== null && renderSignOut(user.email, words.signOut),
      languages.length > 1 &&
        html`
      <nav aria-label="${words.languages}">
        <form method="post" action="/language">
          ${cursor !== null && html`<input type="hidden" name="next" value="${linkTo(cursor, null)}">`}
          <ul>${languages.map(({ code, name }) => html`<li><button name="language" value="${code}" lang="${code}"${code === locale && html` aria-current="true"`}>${name}</button></li>`)}</ul>
        </form>
      </nav>`,
    ],
    main: html`
      <h1>${license.name}</h1>
      <h2 id="museums">${words.museums}</h2>
      ${
        museums.length === 0
          ? html`<p class="quiet">${cursor === null ? words.noMuseums : words.noMoreMuseums}</p>`
          : html`<ul class="records" aria-labelledby="museums">${museums.map(({ name }) => html`<li>${name}</li>`)}</ul>`
      }
      ${renderPages(content, words)}`,
  })
}

/** Renders the links between the pages of museums, if there are several. */
function renderPages({ page: { previous, next }, cursor, chosenLocale }: FrontPage, words: typeof english) {
  if (cursor === null && next === null) return false
  return html`
      <nav aria-label="${words.pages}">
        <ul>
          ${cursor !== null && html`<li><a href="${linkTo(null, chosenLocale)}">${words.first}</a></li>`}
          ${previous !== null && html`<li><a rel="prev" href="${linkTo(previous, chosenLocale)}">${words.previous}</a></li>`}
          ${next !== null && html`<li><a rel="next" href="${linkTo(next, chosenLocale)}">${words.next}</a></li>`}
        </ul>
      </nav>`
}

function linkTo(cursor: string | null, locale: string | null): string {
  const query = new URLSearchParams({ ...(locale !== null && { _locale: locale }), ...(cursor !== null && { cursor }) })
  return query.size === 0 ? '/' : `/?${query}`
}
