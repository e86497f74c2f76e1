import type { SearchCriteria } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderSearchBar, type SearchBarOptions } from './search-bar.ts'

/** The search form beside the results; on a narrow screen it is folded above them, unless there are none. */
export function renderSearchFold(criteria: SearchCriteria, options: SearchBarOptions, isOpen: boolean): Markup {
  return html`<details class="search-fold"${isOpen && html` open`}><summary>Search</summary>${renderSearchBar(criteria, options)}</details>`
}
