import type { Profile } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'

/** What the profile lacks: data over its bounds, and the profiler's notes. */
export function renderGaps({ dropped, notes }: Profile): Markup | null {
  if (dropped.length === 0 && notes.length === 0) return null
  return html`<ul class="notice" aria-label="Missing data">${dropped.map(
    drop => html`
<li>${drop.what}: ${drop.count} left out. ${drop.why}</li>`,
  )}${notes.map(
    note => html`
<li>${note}</li>`,
  )}
</ul>`
}
