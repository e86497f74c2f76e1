import type { SearchCriteria, SearchResult } from '../../base/profile.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderPage } from './page.ts'
import { renderProblems } from '../parts/problems.ts'
import { renderProfileList } from '../parts/profile-list.ts'
import { urlPart } from '../parts/profile-url.ts'
import type { SearchBarOptions } from '../parts/search-bar.ts'
import { renderSearchFold } from '../parts/search-fold.ts'
import { searchQuery } from '../parts/search-query.ts'
import { count } from '../parts/units.ts'

/** Whether a search asks for anything at all: one that does not is the list of the newest. */
function isSearch(criteria: SearchCriteria): boolean {
  return [...new URLSearchParams(searchQuery(criteria, 1)).keys()].some(name => name !== 'perPage')
}

/** What a search found, or without criteria the newest profiles: the profiler's home. */
export function renderSearchPage(result: SearchResult, options: SearchBarOptions): string {
  const { criteria, problems, profiles, total } = result
  const title = isSearch(criteria) ? `${count(total, 'profile')} found` : 'Newest profiles'
  return renderPage({
    title: `${title} · Profiler`,
    base: options.base,
    panel: options.panel,
    aside: renderSearchFold(criteria, options, profiles.length === 0),
    main: html`<h1>${title}${!isSearch(criteria) && html` <span class="count">${total}</span>`}</h1>
${renderProblems(problems)}
${renderShortcuts(options)}
${profiles.length === 0 ? renderEmptyState(isSearch(criteria) ? 'No stored profile is like that.' : 'No profile is stored yet. Ask the application for any page.') : renderProfileList(profiles, options.base, options.panel)}
${renderPaging(result, options)}`,
  })
}

/** The searches a person makes most. */
function renderShortcuts({ base }: SearchBarOptions): Markup {
  return html`<nav class="shortcuts" aria-label="Frequent searches"><ul>
<li><a href="${base}/">All</a></li>
<li><a href="${base}/search?status=%3E%3D500">Failed (5xx)</a></li>
<li><a href="${base}/search?status=4xx">Refused (4xx)</a></li>
<li><a href="${base}/search?durationFrom=100">Slow (100 ms and more)</a></li>
</ul></nav>`
}

function renderPaging({ criteria, page, pages }: SearchResult, { base, panel }: SearchBarOptions): Markup | null {
  if (pages < 2) return null
  const link = (to: number, label: string, rel: string): Markup => {
    const query = [searchQuery(criteria, to), panel === undefined ? '' : `panel=${urlPart(panel)}`]
      .filter(part => part !== '')
      .join('&')
    return html`<a rel="${rel}" href="${base}/search${query !== '' && `?${query}`}">${label}</a>`
  }
  return html`<nav class="paging" aria-label="Pages">${page > 1 ? link(page - 1, 'Newer', 'prev') : html`<span></span>`}<span>Page ${page} of ${pages}</span>${page < pages ? link(page + 1, 'Older', 'next') : html`<span></span>`}</nav>`
}
