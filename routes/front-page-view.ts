import type { User } from '../plugins/firewall.ts'
import type { Language, License, Museum } from '../src/entities.ts'
import { html } from '../src/pages/html.ts'
import { formStyle, renderPage } from '../src/pages/site-page.ts'
import type { Closure } from '../src/records/closure.ts'
import { renderHeader } from './page.ts'
import { wordsFor } from '../src/pages/words.ts'

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
  /** Why only admins see the page. Null if everybody does. */
  closure: Closure | null
}

const english = {
  museums: 'Museums',
  noMuseums: 'There are no museums here yet.',
  noMoreMuseums: 'There are no more museums.',
  pages: 'Pages',
  first: 'First page',
  previous: 'Previous',
  next: 'Next',
}
const translations: Record<string, typeof english> = {
  de: {
    museums: 'Museen',
    noMuseums: 'Hier gibt es noch keine Museen.',
    noMoreMuseums: 'Es gibt keine weiteren Museen.',
    pages: 'Seiten',
    first: 'Erste Seite',
    previous: 'Zurück',
    next: 'Weiter',
  },
  fr: {
    museums: 'Musées',
    noMuseums: 'Il n’y a pas encore de musées ici.',
    noMoreMuseums: 'Il n’y a plus de musées.',
    pages: 'Pages',
    first: 'Première page',
    previous: 'Précédent',
    next: 'Suivant',
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
    closure,
  } = content
  const words = wordsFor(locale, translations, english)
  return renderPage({
    language: locale,
    title: license.name,
    style: user !== null && formStyle,
    header: renderHeader({ locale, user, closure, languages, next: cursor === null ? null : linkTo(cursor, null) }),
    main: html`
      <h1>${license.name}</h1>
      <h2 id="museums">${words.museums}</h2>
      ${
        museums.length === 0
          ? html`<p class="quiet">${cursor === null ? words.noMuseums : words.noMoreMuseums}</p>`
          : html`<ul class="records" aria-labelledby="museums">
              ${museums.map(({ name }) => html`<li>${name}</li>`)}
            </ul>`
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
