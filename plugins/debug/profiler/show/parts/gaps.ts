import type { Profile } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'
import { count } from './units.ts'

/** What is missing from the record, said before anything is read from it. */
export function renderGaps({ dropped, notes }: Profile): Markup | null {
  if (dropped.length === 0 && notes.length === 0) return null
  return html`<ul class="notice" aria-label="What is missing">${dropped.map(
    drop => html`
<li>${count(drop.count, 'item')} of ${drop.what} left out: ${drop.why}</li>`,
  )}${notes.map(
    note => html`
<li>${note}</li>`,
  )}
</ul>`
}
