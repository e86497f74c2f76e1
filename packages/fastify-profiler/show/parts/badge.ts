import { html, type Content, type Markup } from '../../base/html.ts'
import type { Tone } from '../../collect/panel.ts'

/** A short coloured label: a log level, a verdict, a count. */
export function renderBadge(content: Content, tone: Tone = 'neutral'): Markup {
  return html`<span class="badge ${tone}">${content}</span>`
}
