import type { SearchCriteria } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderSearchBar, type SearchBarOptions } from './search-bar.ts'

/** The search form beside what was found; where it would stand above that, it is folded unless it is all there is. */
export function renderSearchFold(criteria: SearchCriteria, options: SearchBarOptions, isOpen: boolean): Markup {
  return html`<details class="search-fold"${isOpen && html` open`}><summary>Search</summary>${renderSearchBar(criteria, options)}</details>`
}
