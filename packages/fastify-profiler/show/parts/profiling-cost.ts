import { html, type Markup } from '../../base/html.ts'
import type { Profile } from '../../base/profile.ts'
import { formatDuration } from './units.ts'

/** What it cost to profile a request. */
export function renderCost({ cost: { trace, collect, store } }: Profile): Markup {
  return html`<p>Profiling took ${formatCost(trace + collect)}: ${formatCost(trace)} during the request, ${formatCost(collect)} after the response.${store > 0 && ` Storing the previous profile took ${formatCost(store)}.`}</p>`
}

/** In microseconds below a millisecond, where most costs are. */
function formatCost(microseconds: number): string {
  return microseconds < 1000 ? `${Math.round(microseconds)} µs` : formatDuration(microseconds / 1000)
}
