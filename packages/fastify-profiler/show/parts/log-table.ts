import type { Json, LogLine, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderEmptyState } from './empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { splitLogs, withoutRequestId } from './own-log-lines.ts'
import { type Place, lineText, renderLocation } from './location.ts'
import { levelName, levelNames, levelTone } from './tone.ts'
import { alignNumber } from './units.ts'
import { LOGGED_LENGTH, renderValue, valueText } from './value.ts'

/** Characters of a line that are shown before it is opened. */
const GLIMPSE = 200

/** Fewer lines need no text filter. */
const FILTERED = 6

/** A longer message may not fit one line. */
const SHORT_MESSAGE = 60

/**
 * The log lines of a request: its own first, one line each that opens, then the framework's folded. A checkbox for each
 * level hides its lines by the stylesheet alone; a script adds a text filter.
 */
export function renderLogTable({ logs, requestId }: Pick<Profile, 'logs' | 'requestId'>, place: Place): Markup {
  if (logs.length === 0) return renderEmptyState('Nothing was logged during this request.')
  const { own, framework } = splitLogs(logs.map(line => withoutRequestId(line, requestId)))
  return html`<div class="logs">
<div class="head">${renderLevels(logs)}${logs.length > FILTERED && html`<label class="log-filter" hidden>Filter <input type="search" maxlength="200"></label>`}${requestId !== null && html`<span class="right">Request ID <code>${requestId}</code></span>`}</div>
${own.length > 0 ? renderLines(own, place) : renderEmptyState('The application logged nothing itself.')}
${framework.length > 0 && html`<details class="fold"><summary>Fastify’s own ${framework.length === 1 ? 'line' : 'lines'}: ${framework.map(({ message }) => message).join(', ')}</summary>${renderLines(framework, place)}</details>`}</div>`
}

/** What the page has reported; null if that is nothing. */
export function renderBrowserLines(lines: readonly LogLine[], place: Place): Markup | null {
  if (lines.length === 0) return null
  return html`<section aria-labelledby="browser"><h2 id="browser">In the browser <span class="count">${lines.length}</span> <small>ms since it asked for the page</small></h2>
<div class="logs">${renderLines(lines, place)}</div></section>`
}

function renderLevels(logs: readonly LogLine[]): Markup | null {
  const counts = new Map<string, number>()
  for (const { level } of logs) counts.set(levelName(level), (counts.get(levelName(level)) ?? 0) + 1)
  if (counts.size < 2) return null
  return html`<fieldset class="levels"><legend class="sr-only">Levels</legend>${levelNames
    .filter(name => counts.has(name))
    .map(
      name => html`
<label><input type="checkbox" checked class="level-${name}"> ${name} <span class="count">${counts.get(name)}</span></label>`,
    )}
</fieldset>`
}

function renderLines(lines: readonly LogLine[], place: Place): Markup {
  return html`<ol class="log-lines">${lines.map(
    line => html`
<li class="level-${levelName(line.level)}">${renderLine(line, place)}</li>`,
  )}
</ol>`
}

function renderLine({ level, start, message, fields, location }: LogLine, place: Place): Markup {
  const entries = Object.entries(fields)
  const head = html`<span class="number" title="milliseconds">${alignNumber(start)}</span>${renderBadge(levelName(level), levelTone(level))}<span class="cut">${message === '' ? html`<span class="muted">No message.</span>` : message.slice(0, GLIMPSE)}${entries.length > 0 && html` <code class="muted">${glimpse(entries)}</code>`}</span>${location !== undefined && html`<code class="muted only-wide">${lineText(location, place.root)}</code>`}`
  const from =
    location === undefined
      ? null
      : html`<p class="from"><span class="muted">From</span> ${renderLocation(location, place)}</p>`
  if (entries.length === 0 && location === undefined && message.length <= SHORT_MESSAGE && !message.includes('\n')) {
    return html`<p class="log-line">${head}</p>`
  }
  return html`<details><summary class="log-line">${head}</summary><p class="message">${message}</p>${from}
${entries.length > 0 && html`<dl class="fields">${entries.map(([name, value]) => html`<div><dt>${name}</dt> <dd>${renderValue(value, LOGGED_LENGTH)}</dd></div>`)}</dl>`}</details>`
}

/** The beginning of a line's fields: order=10293 items=3 */
function glimpse(entries: ReadonlyArray<readonly [name: string, value: Json]>): string {
  return entries
    .slice(0, 8)
    .map(([name, value]) => `${name}=${valueText(value, 0, GLIMPSE)}`)
    .join(' ')
    .slice(0, GLIMPSE)
}
