import { html, type Markup } from '../../base/html.ts'
import type { ProfileSummary } from '../../base/summary.ts'
import { formatDuration } from './units.ts'

const form = 'compare'
const longestName = 80

/** The box that chooses a request for a comparison. */
export function renderTick({ duration, method, token, url }: ProfileSummary): Markup {
  const name = `${method} ${url.slice(0, longestName)} ${formatDuration(duration)}`
  return html`<input type="checkbox" form="${form}" name="request" value="${token}" data-what="${name}" aria-label="Compare ${name}" autocomplete="off">`
}

/** The form below a list that compares two ticked requests. */
export function renderTray(base: string): Markup {
  return html`<form class="tray only-wide" id="${form}" action="${base}/compare" aria-label="Compare two requests"><b class="chosen" aria-live="polite">Tick two requests</b><button>Compare</button><button type="button" class="clear" hidden>Clear</button></form>`
}
