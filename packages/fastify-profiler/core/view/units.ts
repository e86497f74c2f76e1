import { html, type Markup } from './html.ts'
import { isoTime } from '../urls.ts'

const figureSpace = '\u2007'
const pointSpace = '\u2008'

/** Formats a number with three significant digits and at most two decimals: 3,020, 184, 77.1, 6.21, 0.06, <0.01. */
export function formatNumber(value: number): string {
  const rounded = Number(value.toPrecision(3))
  if (rounded > 0 && rounded < 0.005) return '<0.01'
  const decimals = rounded >= 100 ? 0 : rounded >= 10 ? 1 : 2
  // Making an Intl.NumberFormat takes 20 ms of every start.
  return rounded.toFixed(decimals).replace(/\d(?=(?:\d{3})+$)/g, '$&,')
}

/** A number for a column: padded, so that the decimal points of all rows line up. */
export function alignNumber(value: number): string {
  const text = formatNumber(value)
  const point = text.indexOf('.')
  const decimals = point === -1 ? 0 : text.length - point - 1
  return `${text}${point === -1 ? pointSpace : ''}${figureSpace.repeat(2 - decimals)}`
}

/** Formats milliseconds for a column that is labelled ms. Zero is a time too short to measure. */
export function formatMilliseconds(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return ''
  return ms > 0 ? alignNumber(ms) : '<0.01'
}

/** Formats milliseconds in running text: 0.42 ms, 15.0 ms, 3,020 ms, 1 min 2 s. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return 'n/a'
  const seconds = Math.round(ms / 1000)
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return ms > 0 ? `${formatNumber(ms)} ms` : '<0.01 ms'
}

/** Formats bytes: 312 B, 7.50 kB, 4.20 MB. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return 'n/a'
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${formatNumber(bytes / 1000)} kB`
  if (bytes < 1_000_000_000) return `${formatNumber(bytes / 1_000_000)} MB`
  return `${formatNumber(bytes / 1_000_000_000)} GB`
}

/** Formats a part of a whole in whole per cent: 54%, <1%. */
export function formatShare(part: number, whole: number): string {
  if (!(part > 0 && whole > 0)) return ''
  const share = (part / whole) * 100
  return share < 1 ? '<1%' : `${Math.min(100, Math.round(share))}%`
}

/** Formats a time in UTC, since server and reader may be in different time zones: 2026-11-21 01:11:07.482 UTC. */
export function formatTime(time: number): string {
  const text = isoTime(time)
  return text === '' ? 'n/a' : `${text.replace('T', ' ').replace('Z', '')} UTC`
}

/** Formats how long ago a time was: 40 s ago, 2 min ago, 3 h ago, 5 d ago. */
export function formatAge(time: number, now: number): string {
  const seconds = Math.floor((now - time) / 1000)
  if (seconds < 1) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

/** A text of at most so many characters, with an ellipsis if it is longer. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** A count with its noun: 1 query, 2 queries. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? singular : plural}`
}

/** A time as its age; a script keeps the age current, and shows the reader's local time as a tooltip. */
export function renderAge(time: number): Markup {
  return html`<time datetime="${isoTime(time)}" title="${formatTime(time)}" data-age>${formatAge(time, Date.now())}</time>`
}

/** A time with its clock, in UTC until a script shows the reader's local time. */
export function renderTime(time: number): Markup {
  return html`${renderAge(time)} <span class="muted">${renderClock(time)}</span>`
}

/** A time without its age, for one that is still to come. */
export function renderClock(time: number): Markup {
  return html`<time datetime="${isoTime(time)}" data-clock>${formatTime(time).replace(/\.\d+/, '')}</time>`
}
