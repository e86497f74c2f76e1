import { html, type Content, type Markup } from '../../base/html.ts'
import type { Tone } from '../../collect/panel.ts'
import { statusText, statusTone } from './tone.ts'

/** A short coloured label: a log level, a verdict, a count. */
export function renderBadge(content: Content, tone: Tone = 'neutral'): Markup {
  return html`<span class="badge ${tone}">${content}</span>`
}

/** The badge of an HTTP status, with its reason phrase in the long form. */
export function renderStatus(status: number | null, form: 'short' | 'long' = 'long'): Markup {
  const text = form === 'short' ? String(status ?? '–') : statusText(status)
  return renderBadge(text, statusTone(status))
}
