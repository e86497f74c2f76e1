import type { User } from '../plugins/firewall.ts'
import type { Language, License, Museum } from '../src/entities.ts'
import { html } from '../src/pages/html.ts'
import { formStyle, renderPage } from '../src/pages/site-page.ts'
import type { Closure } from '../src/records/closure.ts'
import { renderHeader } from './page.ts'
import { type VisitorWords, visitorWords } from '../src/pages/visitor-words.ts'

/** One page of a license's museums, sorted by name. */
export interface MuseumPage {
  museums: readonly Museum[]
  /** The cursor of the previous page, or null on the first page. */
  previous: string | null
  /** The cursor of the next page, or null on the last page. */
  next: string | null
}

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
  /** The address of the sign-in page. */
  signIn: string
  /** Why only admins see the page. Null if everybody does. */
  closure: Closure | null
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
    signIn,
    closure,
  } = content
  const words = visitorWords(locale).frontPage
  return renderPage({
    language: locale,
    title: license.name,
    style: user !== null && formStyle,
    header: renderHeader({
      locale,
      user,
      closure,
      signIn,
      languages,
      next: cursor === null ? null : linkTo(cursor, null),
    }),
    main: html`
      <h1>${license.name}</h1>
      <h2 id="museums">${words.museums}</h2>
      ${
        museums.length === 0
          ? html`<p class="quiet">${cursor === null ? words.noMuseums : words.noMoreMuseums}</p>`
          : html`<ul class="records" aria-labelledby="museums">
              ${museums.map(renderMuseum)}
            </ul>`
      }
      ${renderPages(content, words)}`,
  })
}

function renderMuseum({ name, url }: Museum) {
  return html`<li>${url === null ? name : html`<a rel="external" href="${url}">${name}</a>`}</li>`
}

/** Renders the links between the pages of museums, if there are several. */
function renderPages({ page: { previous, next }, cursor, chosenLocale }: FrontPage, words: VisitorWords['frontPage']) {
  if (cursor === null && next === null) return false
  return html`
      <nav aria-label="${words.pages}">
        <ul>
          ${cursor !== null && html`<li><a href="${linkTo(null, chosenLocale)}">${words.first}</a></li>`}
          ${previous !== null && renderLink('prev', linkTo(previous, chosenLocale), words.previous)}
          ${next !== null && renderLink('next', linkTo(next, chosenLocale), words.next)}
        </ul>
      </nav>`
}

function renderLink(rel: 'prev' | 'next', url: string, label: string) {
  return html`<li><a rel="${rel}" href="${url}">${label}</a></li>`
}

function linkTo(cursor: string | null, locale: string | null): string {
  const query = new URLSearchParams({ ...(locale !== null && { _locale: locale }), ...(cursor !== null && { cursor }) })
  return query.size === 0 ? '/' : `/?${query}`
}
