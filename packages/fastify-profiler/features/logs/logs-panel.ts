import { withoutHiddenFrames } from '../../core/call-site.ts'
import { features } from '../../core/feature.ts'
import type { BuiltInPanel, Tone, ToolbarCard } from '../../core/panel.ts'
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
  renderSeverity,
  renderValue,
  valueText,
} from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code, plain, table } from '../../core/view/markdown.ts'
import { alignNumber, count, formatDuration, formatNumber } from '../../core/view/units.ts'

/** The lines from warnings on, worst first. */
export function logCard(logs: readonly LogLine[]): ToolbarCard {
  return {
    title: count(logs.length, 'line'),
    rows: logs
      .filter(({ level }) => levelTone(level) !== 'neutral')
      .sort((one, other) => other.level - one.level)
      .map(({ level, message, start }) => [levelName(level), message || 'No message.', formatNumber(start)]),
    foot: 'ms since the request arrived',
  }
}

/** The logged errors, or else the warnings, in words; null if there are neither. */
function loggedProblems(logs: readonly LogLine[]): { text: string; tone: Tone } | null {
  const first = firstProblem(logs)
  if (first === undefined) return null
  const tone = levelTone(first.level)
  return { text: count(logs.filter(({ level }) => levelTone(level) === tone).length, tone), tone }
}

/** The lines that Fastify logs about every request, with the field that tells them from the application's. */
const frameworkLines: Record<string, string> = {
  'incoming request': 'req',
  'request completed': 'res',
}

/** Whether Fastify itself logged a line: one of its pair, or the error that a request ended with. */
function isOfFramework({ fields, level, location, message }: LogLine): boolean {
  const field = Object.hasOwn(frameworkLines, message) ? frameworkLines[message] : undefined
  if (field !== undefined) return level === 30 && Object.hasOwn(fields, field)
  return location === undefined && Object.hasOwn(fields, 'res') && Object.hasOwn(fields, 'err')
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
 * level hides its lines by the stylesheet alone. `query`: where the text filter stands, on a page with only logs; on
 * any other a script filters.
 */
export function renderLogTable(
  { logs, requestId }: Pick<Profile, 'logs' | 'requestId'>,
  place: Place,
  query?: URLSearchParams,
): Markup {
  if (logs.length === 0) return renderEmptyState('No log line was recorded.')
  const lines = logs.map(line => withoutRequestId(line, requestId))
  const framework = lines.filter(isOfFramework)
  const own = lines.filter(line => !isOfFramework(line))
  const wanted = query?.get('filter') ?? ''
  const shown = wanted === '' ? own : own.filter(line => isAbout(line, wanted.toLowerCase()))
  return html`<div class="logs">
${query !== undefined && shown.length > 1 && renderFirstProblem(shown, place)}
<div class="head">${renderLevels(logs)}${(logs.length > FILTERED || wanted !== '') && renderFilter(wanted, query)}${requestId !== null && html`<span class="right">Request ID <code>${requestId}</code></span>`}</div>
${shown.length > 0 ? html`<p class="cells log-head muted" aria-hidden="true"><span class="number">ms</span><span>Level</span><span>Message</span></p>${renderLines(shown, place)}` : renderEmptyState(own.length > 0 ? `None of ${count(own.length, 'line')} contains "${wanted}".` : 'The application logged nothing itself.')}
${framework.length > 0 && html`<details class="fold"><summary>Fastify’s own ${framework.length === 1 ? 'line' : 'lines'}: ${framework.map(({ message }) => message.slice(0, GLIMPSE)).join(', ')}</summary>${renderLines(framework, place)}</details>`}</div>`
}

function isAbout({ fields, level, message }: LogLine, wanted: string): boolean {
  return `${levelName(level)} ${message} ${valueText(fields)}`.toLowerCase().includes(wanted)
}

/** In a page of its own, Enter puts the filter into the URL; a part of another page filters by script alone. */
function renderFilter(wanted: string, query: URLSearchParams | undefined): Markup {
  const label = html`<label class="log-filter"${query === undefined && html` hidden`}>Filter <input type="search" name="filter" value="${wanted}" maxlength="200"></label>`
  return query === undefined ? label : html`<form><input type="hidden" name="panel" value="logs">${label}</form>`
}

/** First error: payment failed, app.js:81, at 0.93 ms; or else the first warning. */
function renderFirstProblem(lines: readonly LogLine[], place: Place): Markup | null {
  const first = firstProblem(lines)
  if (first === undefined) return null
  const { level, location, message, start } = first
  const tone = levelTone(level)
  return html`<p class="row">${renderSeverity(tone)}<span>First ${tone}: <a href="#${firstId}">${message.slice(0, GLIMPSE) || 'no message'}</a>${location !== undefined && html`, ${renderLocation(location, place)}`}, at ${formatDuration(start)}</span></p>`
}

const firstId = 'first-problem'

/** The first error, or else the first warning. */
function firstProblem(lines: readonly LogLine[]): LogLine | undefined {
  const firstOf = (tone: Tone) => lines.find(({ level }) => levelTone(level) === tone)
  return firstOf('error') ?? firstOf('warning')
}

function renderFurtherLines(profile: Profile, place: Place): Markup[] {
  return features.flatMap(({ lines, name }) => {
    const found = lines?.of(profile) ?? []
    if (lines === undefined || found.length === 0) return []
    return html`<section aria-labelledby="${name}"><h2 id="${name}">${lines.heading} <span class="count">${found.length}</span> <small>${lines.note}</small></h2>
<div class="logs">${renderLines(found, place)}</div></section>`
  })
}

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
  const first = firstProblem(lines)
  return html`<ol class="log-lines rows">${runsOf(lines).map(run => {
    const [line] = run
    if (line === undefined) return null
    return html`
<li class="level-${levelName(line.level)}"${first !== undefined && run.includes(first) && html` id="${firstId}"`}>${run.length === 1 ? renderLine(line, place) : renderRun(line, run, place)}</li>`
  })}
</ol>`
}

/** Divides lines into runs: of debug and trace those of a level, of others those with the same message. */
function runsOf(lines: readonly LogLine[]): LogLine[][] {
  const runs: LogLine[][] = []
  for (const line of lines) {
    const run = runs.at(-1)
    const first = run?.[0]
    const isSame = first?.level === line.level && first.isLate === line.isLate
    if (isSame && (line.level < 30 || first.message === line.message)) run?.push(line)
    else runs.push([line])
  }
  return runs
}

/** Lines as one that opens: 14 debug, 0.2 ms; 20 × cache miss. */
function renderRun(first: LogLine, run: readonly LogLine[], place: Place): Markup {
  const { level, message, start } = first
  const took = formatDuration((run.at(-1)?.start ?? start) - start)
  const text =
    level < 30
      ? html`${count(run.length, levelName(level), levelName(level))}, ${took}`
      : html`<b>${run.length.toLocaleString('en')} ×</b> ${message.slice(0, GLIMPSE) || 'No message.'}`
  return html`<details><summary class="cells">${renderStart(first)}<span class="cut">${text}</span></summary><ol class="rows">${run.map(line => html`<li>${renderLine(line, place)}</li>`)}</ol></details>`
}

function renderStart({ level, start }: LogLine): Markup {
  return html`<span class="number">${alignNumber(start)}</span>${renderBadge(levelName(level), levelTone(level))}`
}

/** A line on its own: what does not fit opens below it, which it does by itself for a warning or an error. */
function renderLine(line: LogLine, place: Place): Markup {
  const { fields, isLate, level, location, message } = line
  const entries = Object.entries(fields)
  const head = html`${renderStart(line)}<span class="cut">${isLate && html`${renderBadge('after the response')} `}${message === '' ? html`<span class="muted">No message.</span>` : message.slice(0, GLIMPSE)}${entries.length > 0 && html` <code class="muted">${glimpse(entries)}</code>`}</span>${location !== undefined && html`<code class="muted only-wide">${lineText(location, place.root)}</code>`}`
  const from =
    location === undefined ? null : html`<p><span class="muted">From</span> ${renderLocation(location, place)}</p>`
  const isLong = message.length > SHORT_MESSAGE || message.includes('\n')
  if (entries.length === 0 && location === undefined && !isLong) return html`<p class="cells">${head}</p>`
  return html`<details${levelTone(level) !== 'neutral' && html` open`}><summary class="cells">${head}</summary>${isLong && html`<p class="message">${message}</p>`}${from}
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
      html: html`${renderLogTable(context.profile, context, context.isFile === true ? undefined : (context.query ?? new URLSearchParams()))}
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
