import { memoize } from '../http/memoize.ts'
import { escapeText, html, Markup } from '../pages/html.ts'
import { renderPage, renderSmallPage } from '../pages/site-page.ts'
import { languageOfWords, type VisitorWords, visitorWords } from '../pages/visitor-words.ts'
import type { Hint, HttpError, Remedy } from './http-errors.ts'

/** What the user can do about the error, and further members of the problem. */
export type Advice = Partial<Pick<HttpError, 'remedy' | 'hint' | 'members'>>

/** The site that an error page names, and the language of the visitor. */
export interface SiteOfError {
  name: string
  locale: string
}

const toTheFrontPage: Remedy = { text: words => words.toFrontPage, href: '/' }

/** The page that browsers show for an error of a host without a site, or before its license is looked up. */
export function renderErrorPage(status: number, title: string, detail: string, advice: Advice = {}): string {
  return renderPage({
    language: 'en',
    title: `${status} ${title}`,
    main: html`
      <p class="status">${status}</p>
      <h1>${title}</h1>
      ${detail !== title && html`<p>${detail}</p>`}
      ${renderAdvice(advice, visitorWords('en'))}`,
  })
}

/** The page that browsers show for an error of a site. @returns the page, and its language as a BCP 47 tag */
export function renderSiteErrorPage(status: number, detail: string, site: SiteOfError, advice: Advice = {}) {
  const { remedy, hint } = advice
  const hasAdvice = remedy !== undefined || hint !== undefined
  const { language, before, after } = hasAdvice
    ? renderAround(status, site, advice)
    : aroundMessage(`${status}${mark}${site.locale}${mark}${site.name}`)
  return { language, page: `${before}${escapeText(detail)}${after}` }
}

/** Stands for the message, and separates what a page depends on. The database has no such character. */
const mark = '\0'

/** What surrounds the message of an error without advice. Remembered, because all of a site's 404s have the same. */
const aroundMessage = memoize(key => {
  const [status, locale = '', name = ''] = key.split(mark)
  return renderAround(Number(status), { locale, name }, {})
}, 200)

function renderAround(status: number, { locale, name }: SiteOfError, advice: Advice) {
  const words = visitorWords(locale)
  const language = languageOfWords(locale)
  const title = words.errors[status] ?? words.errors[status < 500 ? 400 : 500] ?? ''
  const main = html`<p lang="en">${new Markup(mark)}</p>
      ${renderAdvice(advice, words)}`
  const [before = '', after = ''] = renderSmallPage({ locale: language, name, title, main }).split(mark)
  return { language, before, after }
}

function renderAdvice({ remedy = toTheFrontPage, hint }: Advice, words: VisitorWords): Markup {
  return html`${hint && renderHint(hint)}
      ${remedy && html`<p><a href="${remedy.href}">${typeof remedy.text === 'string' ? remedy.text : remedy.text(words)}</a></p>`}`
}

function renderHint({ text, commands }: Hint): Markup {
  return html`<p>${text}</p>${commands.map(command => html`<p><code>${command}</code></p>`)}`
}
