import type { SearchCriteria } from '../../base/summary.ts'
import { html, type Markup } from '../../base/html.ts'
import { searchQuery } from './search-query.ts'
import { renderTime } from './time.ts'

/** The stored requests with the same exception. */
export interface Sightings {
  count: number
  /** The time of the first, in milliseconds since 1970. */
  since: number
  /** The search that finds them. */
  criteria: SearchCriteria
}

/** How often an exception was seen, with a link to its requests. */
export function renderSightings({ count, criteria, since }: Sightings, base: string): Markup {
  return html`<a href="${base}/search?${searchQuery(criteria, 1)}">${count.toLocaleString('en')} times</a>, first ${renderTime(since)}`
}
