import { html, type Markup } from '../../base/html.ts'
import { formatTime } from './units.ts'

/** A moment, in UTC for everybody; a script adds the reader's own time to it. */
export function renderTime(time: number): Markup {
  const text = formatTime(time)
  return html`<time datetime="${text.replace(' UTC', 'Z').replace(' ', 'T')}">${text}</time>`
}
