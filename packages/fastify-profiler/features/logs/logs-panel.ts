import { withoutHiddenFrames } from '../../core/call-site.ts'
import { features } from '../../core/feature.ts'
import type { BuiltInPanel, ToolbarCard } from '../../core/panel.ts'
import type { Json, LogLine, Profile } from '../../core/profile.ts'
import type { Fact } from '../../core/view/block.ts'
import {
  levelName,
  levelNames,
  levelTone,
  lineText,
  locationText,
  LOGGED_LENGTH,
  type Place,
  renderBadge,
  renderEmptyState,
  renderLocation,
  renderValue,
  valueText,
} from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code, plain, table } from '../../core/view/markdown.ts'
import { alignNumber, count, count as counted, formatDuration, formatNumber } from '../../core/view/units.ts'

/** The lines from warnings on, worst first. */
export function logCard(logs: readonly LogLine[]): ToolbarCard {
  return {
    title: counted(logs.length, 'line'),
    rows: logs
      .filter(({ level }) => level >= 40)
      .sort((one, other) => other.level - one.level)
      .map(({ level, message, start }) => [levelName(level), message || 'No message.', formatNumber(start)]),
    foot: 'ms since the request arrived',
  }
}

/** The logged errors, or else the warnings, in words; null if there are neither. */
export function loggedProblems(logs: readonly LogLine[]): { text: string; tone: 'error' | 'warning' } | null {
  const errors = logs.filter(({ level }) => level >= 50).length
  if (errors > 0) return { text: count(errors, 'error'), tone: 'error' }
  const warnings = logs.filter(({ level }) => level >= 40).length
  return warnings > 0 ? { text: count(warnings, 'warning'), tone: 'warning' } : null
}

/** The lines that Fastify logs about every request, with the field that tells them from the application's. */
const frameworkLines: Record<string, string> = {
  'incoming request': 'req',
  'request completed': 'res',
}

/** Separates the lines of the application from those that Fastify logs about every request. */
function splitLogs(logs: readonly LogLine[]): { own: LogLine[]; framework: LogLine[] } {
  const isFramework = ({ level, message, fields }: LogLine) => {
    const field = Object.hasOwn(frameworkLines, message) ? frameworkLines[message] : undefined
    return field !== undefined && level === 30 && Object.hasOwn(fields, field)
  }
  return { own: logs.filter(line => !isFramework(line)), framework: logs.filter(isFramework) }
}

/** A line without the id that all lines of a request share. */
function withoutRequestId(line: LogLine, requestId: string | null): LogLine {
  const { reqId, ...fields } = line.fields
  return reqId !== undefined && reqId === requestId ? { ...line, fields } : line
}

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

/** Lines that other features have, each under its heading. */
function renderFurtherLines(profile: Profile, place: Place): Markup[] {
  return features.flatMap(({ lines, name }) => {
    const found = lines?.of(profile) ?? []
    if (lines === undefined || found.length === 0) return []
    return html`<section aria-labelledby="${name}"><h2 id="${name}">${lines.heading} <span class="count">${found.length}</span> <small>${lines.note}</small></h2>
<div class="logs">${renderLines(found, place)}</div></section>`
  })
}

/** How many errors or warnings the log has, in the header of a profile. */
export function logFacts(profile: Profile): Fact[] {
  const logs = [{ heading: 'Logs', of: () => profile.logs }, ...features.flatMap(({ lines }) => lines ?? [])]
  return logs.flatMap(({ heading, of }): Fact[] => {
    const problems = loggedProblems(of(profile))
    return problems === null ? [] : [[heading, { strong: problems.text, tone: problems.tone }]]
  })
}

function renderLevels(logs: readonly LogLine[]): Markup | null {
  const counts = new Map<string, number>()
  for (const { level } of logs) counts.set(levelName(level), (counts.get(levelName(level)) ?? 0) + 1)
  if (counts.size < 2) return null
  return html`<fieldset class="row"><legend class="sr-only">Levels</legend>${levelNames
    .filter(name => counts.has(name))
    .map(
      name => html`
<label><input type="checkbox" checked class="level-${name}"> ${name} <span class="count">${counts.get(name)}</span></label>`,
    )}
</fieldset>`
}

function renderLines(lines: readonly LogLine[], place: Place): Markup {
  return html`<ol class="log-lines rows">${lines.map(
    line => html`
<li class="level-${levelName(line.level)}">${renderLine(line, place)}</li>`,
  )}
</ol>`
}

function renderLine({ fields, isLate, level, location, message, start }: LogLine, place: Place): Markup {
  const entries = Object.entries(fields)
  const head = html`<span class="number" title="milliseconds">${alignNumber(start)}</span>${renderBadge(levelName(level), levelTone(level))}<span class="cut">${isLate && html`${renderBadge('after the response')} `}${message === '' ? html`<span class="muted">No message.</span>` : message.slice(0, GLIMPSE)}${entries.length > 0 && html` <code class="muted">${glimpse(entries)}</code>`}</span>${location !== undefined && html`<code class="muted only-wide">${lineText(location, place.root)}</code>`}`
  const from =
    location === undefined ? null : html`<p><span class="muted">From</span> ${renderLocation(location, place)}</p>`
  if (entries.length === 0 && location === undefined && message.length <= SHORT_MESSAGE && !message.includes('\n')) {
    return html`<p class="cells">${head}</p>`
  }
  return html`<details><summary class="cells">${head}</summary><p class="message">${message}</p>${from}
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

/** Log lines as a table: level, time since the request began, message, fields, and the line of a warning. */
export function logsMarkdown(logs: readonly LogLine[], root: string): string {
  return table(
    ['Level', 'Start', 'Message', 'Fields', 'From'],
    logs.map(({ fields, isLate, level, location, message, start }) => [
      levelName(level),
      `${formatDuration(start)}${isLate ? ' (after the response)' : ''}`,
      plain(message),
      Object.keys(fields).length === 0 ? '' : code(valueText(fields, 0, LOGGED_LENGTH)),
      location === undefined ? '' : code(locationText(location, root)),
    ]),
  )
}

/** Every log line of the request, whatever the level of stdout, and those of other features. */
export const logsPanel: BuiltInPanel<LogLine[]> = {
  name: 'logs',
  label: 'Logs',
  read(profile) {
    const lines = [...profile.logs, ...features.flatMap(({ lines }) => lines?.of(profile) ?? [])]
    return lines.length === 0 ? null : lines
  },
  badge: logs => loggedProblems(logs) ?? { text: String(logs.length), tone: 'neutral' },
  toolbarItem(logs) {
    const problems = loggedProblems(logs)
    return problems === null ? null : { label: 'Logs', value: problems.text, tone: problems.tone, card: logCard(logs) }
  },
  view: (logs, context) => [
    {
      html: html`${renderLogTable(context.profile, context)}
${renderFurtherLines(context.profile, context)}`,
      markdown: logsMarkdown(logs, context.root),
    },
  ],
}

/** The log of a profile for viewing: logged stacks without the profiler's own frames. */
export function clearLogs({ logs }: Profile): Pick<Profile, 'logs'> {
  const clear = (fields: LogLine['fields']) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cleared(value)]))
  return { logs: logs.map(line => ({ ...line, fields: clear(line.fields) })) }
}

function cleared(value: Json): Json {
  if (typeof value === 'string') return withoutHiddenFrames(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cleared)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cleared(item)]))
}
