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

/** Whether a search has any criterion. Without one the page lists the latest requests. */
function isSearch(criteria: SearchCriteria): boolean {
  return [...new URLSearchParams(searchQuery(criteria, 1)).keys()].some(name => name !== 'perPage')
}

/** The profiler's home page: the results of a search, or without criteria the latest requests. */
export function renderSearchPage(result: SearchResult, options: SearchBarOptions): string {
  const { criteria, problems, profiles, total } = result
  const title = isSearch(criteria) ? `${count(total, 'request')} found` : 'Latest requests'
  return renderPage({
    title: `${title} · Profiler`,
    base: options.base,
    panel: options.panel,
    aside: renderSearchFold(criteria, options, profiles.length === 0),
    main: html`<h1>${title}${!isSearch(criteria) && html` <span class="count">${total}</span>`}</h1>
${renderProblems(problems)}
${renderShortcuts(options)}
${profiles.length === 0 ? renderEmptyState(isSearch(criteria) ? 'No stored request matches.' : 'No requests stored yet. Open any page of the application.') : renderProfileList(profiles, options.base, options.panel)}
${renderPaging(result, options)}`,
  })
}

/** Links to frequent searches. */
function renderShortcuts({ base }: SearchBarOptions): Markup {
  return html`<nav class="shortcuts" aria-label="Frequent searches"><ul>
<li><a href="${base}/">All</a></li>
<li><a href="${base}/search?status=%3E%3D500">Failed (5xx)</a></li>
<li><a href="${base}/search?status=4xx">Refused (4xx)</a></li>
<li><a href="${base}/search?durationFrom=100">Slow (100 ms or more)</a></li>
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
