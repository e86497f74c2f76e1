import { html, type Markup } from '../../base/html.ts'
import type { Tone } from '../../collect/panel.ts'

const warning = html`<svg class="severity warning" viewBox="0 0 14 14" role="img" aria-label="Warning"><path d="M7 .8 13.6 13H.4z"/><line x1="7" y1="5.2" x2="7" y2="8.6"/><line x1="7" y1="11" x2="7" y2="11"/></svg>`
const error = html`<svg class="severity error" viewBox="0 0 14 14" role="img" aria-label="Error"><circle cx="7" cy="7" r="6.6"/><line x1="7" y1="3.6" x2="7" y2="7.6"/><line x1="7" y1="10.2" x2="7" y2="10.2"/></svg>`
const note = html`<svg class="severity neutral" viewBox="0 0 14 14" role="img" aria-label="Note"><circle cx="7" cy="7" r="5.5"/></svg>`

/** The mark of a severity. Each has a shape of its own, so that nobody needs its colour. */
export function renderSeverity(tone: Tone): Markup {
  if (tone === 'error') return error
  return tone === 'warning' ? warning : note
}
