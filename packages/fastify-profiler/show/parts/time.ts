import { html, type Markup } from '../../base/html.ts'
import { formatAge, formatTime } from './units.ts'

/** A time as its age; a script keeps the age current, and shows the reader's local time as a tooltip. */
export function renderAge(time: number): Markup {
  const text = formatTime(time)
  return html`<time datetime="${isoOf(text)}" title="${text}" data-age>${formatAge(time, Date.now())}</time>`
}

/** A time with its clock, in UTC until a script shows the reader's local time. */
export function renderTime(time: number): Markup {
  return html`${renderAge(time)} <span class="muted">${renderClock(time)}</span>`
}

/** A time without its age, for one that is still to come. */
export function renderClock(time: number): Markup {
  const text = formatTime(time)
  return html`<time datetime="${isoOf(text)}" data-clock>${text.replace(/\.\d+/, '')}</time>`
}

function isoOf(text: string): string {
  return text.replace(' UTC', 'Z').replace(' ', 'T')
}
