import type { Closure } from '../records/closure.ts'
import { html, type Markup } from './html.ts'
import { renderSmallPage } from './site-page.ts'
import { languageOfWords, visitorWords } from './visitor-words.ts'

/** Renders the line that says why the site is closed, on pages that are open all the same. Nothing if it is not. */
export function renderClosureNotice(closure: Closure | null, locale: string, isAdmin: boolean): Markup | null {
  if (closure === null) return null
  const { title, onlyAdmins } = visitorWords(locale).closure
  const sentences = [`${title[closure.reason]}.`, detailOf(closure, locale), isAdmin ? onlyAdmins : '']
  return html`<p class="notice">${sentences.filter(sentence => sentence !== '').join(' ')}</p>`
}

/** Renders what visitors see of a closed site, with a link to the sign-in page. */
export function renderClosedPage(closure: Closure, name: string, locale: string, signIn: string): string {
  const words = visitorWords(locale)
  const detail = detailOf(closure, locale)
  const main = html`${detail !== '' && html`<p>${detail}</p>`}
      <p><a href="${signIn}">${words.signIn}</a></p>`
  return renderSmallPage({ locale: languageOfWords(locale), name, title: words.closure.title[closure.reason], main })
}

/** When the site opens, or when it closed. Empty if it is suspended: nobody knows until when. */
function detailOf(closure: Closure, locale: string): string {
  if (closure.reason === 'suspended') return ''
  const { closure: words, dates } = visitorWords(locale)
  const time = closure.reason === 'asleep' ? closure.until : closure.since
  const written = time.toLocaleString(dates, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })
  return words.detail[closure.reason](written)
}
