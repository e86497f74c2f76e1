import { html, type Markup } from '../../base/html.ts'
import { formatTime } from './units.ts'

/** A time in UTC; a script adds the reader's local time as a tooltip. */
export function renderTime(time: number): Markup {
  const text = formatTime(time)
  return html`<time datetime="${text.replace(' UTC', 'Z').replace(' ', 'T')}">${text}</time>`
}
