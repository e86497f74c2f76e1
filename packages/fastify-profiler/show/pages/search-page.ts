import type { SearchCriteria, SearchResult } from '../../base/summary.ts'
import type { Period } from '../../store/search-criteria.ts'
import { wordsOf } from '../../store/search-words.ts'
import type { Overview } from '../../store/overview.ts'
import { hatchPattern } from '../parts/bar.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderOverview } from '../parts/overview.ts'
import { renderPage } from './page.ts'
import { renderProblems } from '../parts/problems.ts'
import { renderProfileList, slowFrom } from '../parts/profile-list.ts'
import { urlPart } from '../parts/profile-url.ts'
import { renderSearchBar, type SearchBarOptions } from '../parts/search-bar.ts'
import { searchQuery } from '../parts/search-query.ts'
import { count } from '../parts/units.ts'

/** What the home page shows above the list. */
export interface HomeOverview {
  overview: Overview
  period: Period
}

/** Whether a search has any criterion. Without one the page lists the latest requests. */
export function isSearch(criteria: SearchCriteria): boolean {
  return [...new URLSearchParams(searchQuery(criteria, 1)).keys()].some(name => name !== 'perPage' && name !== 'sort')
}

/** The profiler's home page: what matters lately and the latest requests, or the results of a search. */
export function renderSearchPage(
  result: SearchResult,
  options: SearchBarOptions,
  home: HomeOverview | null = null,
): string {
  const { criteria, problems, profiles, total } = result
  const title = isSearch(criteria) ? `${count(total, 'request')} found` : 'Requests'
  const overview =
    home !== null && home.overview.requests > 0 && renderOverview(home.overview, home.period, options.base)
  return renderPage({
    title: `${title} · Profiler`,
    base: options.base,
    panel: options.panel,
    main: html`${hatchPattern}${overview}<section aria-labelledby="requests"><div class="head">${overview === false ? html`<h1 id="requests">${title}</h1>` : html`<h2 id="requests">${title}</h2>`}${!isSearch(criteria) && html`<span class="count">${total.toLocaleString('en')}</span>`}${home !== null && renderLiveControls(options)}${renderShortcuts(options)}</div>
${renderProblems(problems)}
${renderSearchBox(criteria, options)}
${profiles.length === 0 ? renderEmptyState(isSearch(criteria) ? 'No stored request matches.' : 'No requests stored yet. Open any page of the application.') : renderProfileList(profiles, { ...options, criteria, polls: result.polls, isLive: home !== null })}
${renderPaging(result, options)}</section>`,
    footer: html`<p>Amber: ${slowFrom} ms or more, or one query repeated in a loop. Red bars: a request failed in that time.</p>`,
  })
}

/** One box that understands fields and words; the fields of their own are folded. */
export function renderSearchBox(criteria: SearchCriteria, options: SearchBarOptions): Markup {
  const { base, panel } = options
  return html`<form class="search-box" action="${base}/search" role="search" aria-label="Search">${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}<input type="search" name="q" aria-label="Search requests" value="${wordsOf(criteria)}" placeholder="status:5xx  route:/checkout  slower:100ms  sql:&gt;10  or any text of the URL, exception or token" maxlength="4000"><button>Search</button></form>
<details class="fold fields"><summary>Fields</summary>${renderSearchBar(criteria, options)}</details>`
}

/** Shown by the script when the browser receives events; without them the page is reloaded. */
function renderLiveControls({ base }: SearchBarOptions): Markup {
  return html`<span class="live" hidden>Live</span><button type="button" class="pause" hidden>Pause</button><a class="chip fresh" href="${base}/">Reload</a>`
}

/** Links to frequent searches. */
function renderShortcuts({ base }: SearchBarOptions): Markup {
  return html`<nav class="right chips" aria-label="Frequent searches"><a class="chip" href="${base}/">All</a><a class="chip" href="${base}/search?status=%3E%3D500">Failed</a><a class="chip" href="${base}/search?status=4xx">Refused</a><a class="chip" href="${base}/search?durationFrom=${slowFrom}">Over ${slowFrom} ms</a></nav>`
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
