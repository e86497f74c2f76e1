import type { ProfileSummary, TimeKind } from '../../core/summary.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { renderPage } from '../../core/view/page.ts'
import { count, formatBytes, formatDuration, formatTime, renderTime } from '../../core/view/units.ts'
import { inputTime } from '../../core/view/urls.ts'
import { hatchPattern, percent } from '../performance/waterfall.ts'
import { renderPairedStacks, renderSide } from './comparison-page.ts'
import { groundsText, surenessText } from './comparison-text.ts'
import { judgeTimes, quantile, type Verdict } from './verdict.ts'

/** The requests of one route before a moment and since. Times are milliseconds. */
interface SetComparison {
  method: string
  route: string
  /** Milliseconds since 1970. */
  at: number
  before: RequestSet
  since: RequestSet
  verdict: Verdict
}

/** What a number of requests have in common. Those that failed or were not answered only count as such. */
interface RequestSet {
  count: number
  failed: number
  duration: Spread
  queries: Spread
  queryTime: Spread
  /** Bytes of the response's body. */
  size: Spread
  /** The median time of each kind. */
  times: Array<[kind: TimeKind, time: number]>
  /** The duration of each request, newest first. */
  durations: number[]
}

/** Quantiles by nearest rank; all 0 without values. */
interface Spread {
  least: number
  quarter: number
  median: number
  threeQuarters: number
  most: number
}

/** Compares the requests of a route before a moment with those since. */
export function compareSets(
  { method, route, at }: Pick<SetComparison, 'method' | 'route' | 'at'>,
  requests: readonly ProfileSummary[],
): SetComparison {
  const before = describeSet(requests.filter(({ time }) => time < at))
  const since = describeSet(requests.filter(({ time }) => time >= at))
  // Nearest to the moment first.
  const verdict = judgeTimes(before.durations, since.durations.toReversed())
  return { method, route, at, before, since, verdict }
}

function describeSet(requests: readonly ProfileSummary[]): RequestSet {
  const answered = requests.filter(({ outcome, status }) => outcome === 'completed' && status !== null && status < 500)
  const spread = (valueOf: (request: ProfileSummary) => number) => spreadOf(answered.map(valueOf))
  const kinds = new Set(answered.flatMap(({ times }) => times.map(([kind]) => kind)))
  return {
    count: requests.length,
    failed: requests.length - answered.length,
    duration: spread(({ duration }) => duration),
    queries: spread(({ queries }) => queries.count),
    queryTime: spread(({ queries }) => queries.duration),
    size: spread(({ size }) => size ?? 0),
    times: [...kinds].map(kind => [kind, spread(({ times }) => timeOf(times, kind)).median]),
    durations: answered.map(({ duration }) => duration),
  }
}

function timeOf(times: ProfileSummary['times'], wanted: TimeKind): number {
  return times.find(([kind]) => kind === wanted)?.[1] ?? 0
}

function spreadOf(values: readonly number[]): Spread {
  const at = (part: number) => quantile(values, part)
  return { least: at(0), quarter: at(0.25), median: at(0.5), threeQuarters: at(0.75), most: at(1) }
}

/** The comparison of a route in one sentence, with the medians. */
export function setSentence({ before, since, verdict }: SetComparison): string {
  if (before.durations.length === 0 || since.durations.length === 0) {
    return `Nothing to compare: ${count(before.durations.length, 'request')} before, ${since.durations.length} since`
  }
  const { change, difference } = verdict
  const claim = change === 'none' ? 'No difference' : `Since then ${formatDuration(Math.abs(difference))} ${change}`
  const hasQueries = before.queries.most + since.queries.most > 0
  const from = hasQueries ? `${count(before.queries.median, 'query', 'queries')}, ` : ''
  const to = hasQueries ? `${since.queries.median}, ` : ''
  return `${claim}, ${surenessText(verdict)}: ${from}${formatDuration(before.duration.median)} → ${to}${formatDuration(since.duration.median)}`
}

/** How many requests a set has, and how many of them failed. */
function setSize({ count: all, failed }: RequestSet): string {
  return `${count(all, 'request')}${failed > 0 ? `, ${failed} failed or unanswered` : ''}`
}

/** A measure of both sets: its name, its spreads, and how its values are written. */
interface SpreadRow {
  name: string
  before: Spread
  since: Spread
  format: (value: number) => string
}

/** What is compared of a route. */
function spreadRows({ before, since }: SetComparison): SpreadRow[] {
  return [
    { name: 'Time', before: before.duration, since: since.duration, format: formatDuration },
    { name: 'Queries', before: before.queries, since: since.queries, format: String },
    { name: 'SQL', before: before.queryTime, since: since.queryTime, format: formatDuration },
    { name: 'Response', before: before.size, since: since.size, format: formatBytes },
  ]
}

/** The median with the middle half of all values: 31.2 ms (30.1 ms to 33.0 ms). */
function spreadText({ quarter, median, threeQuarters }: Spread, format: SpreadRow['format']): string {
  return quarter === threeQuarters
    ? format(median)
    : `${format(median)} (${format(quarter)} to ${format(threeQuarters)})`
}

/** A route before a moment (A) and since (B): the medians, the spread, and where the time went. */
export function renderSetComparisonPage(comparison: SetComparison, base: string): string {
  const { at, before, method, route, since } = comparison
  const grounds = groundsText(comparison.verdict)
  const kinds = new Map(before.times)
  const kindsSince = new Map(since.times)
  const times = [...new Set([...kinds.keys(), ...kindsSince.keys()])].map(
    kind => [kind, kinds.get(kind) ?? 0, kindsSince.get(kind) ?? 0] as const,
  )
  return renderPage({
    title: `${setSentence(comparison)} · ${method} ${route.slice(0, 80)}`,
    base,
    main: html`${hatchPattern}<section aria-labelledby="verdict"><h1 id="verdict" class="headline">${setSentence(comparison)}</h1>
<p><code>${method} ${route}</code> before ${renderTime(at)} (${renderSide('A')} ${setSize(before)}) and since (${renderSide('B')} ${setSize(since)}).</p>
${grounds !== null && html`<p class="muted">${grounds}</p>`}
${renderMomentForm(comparison, base)}</section>
<section aria-labelledby="spread"><h2 id="spread">Spread <small>a tick a request, a long tick the median; one scale</small></h2>
${renderSpreads(before, since)}</section>
<section aria-labelledby="where"><h2 id="where">Where the time went <small>medians of each kind</small></h2>
${renderPairedStacks(times, before.duration.median, since.duration.median)}</section>
<section aria-labelledby="medians"><h2 id="medians">Medians <small>in brackets the middle half</small></h2>${renderMedians(comparison)}</section>`,
    footer: html`<p>A verdict needs eight requests on each side, and middle halves that do not overlap. Compared are at most 200 requests before and 200 since.</p>`,
  })
}

function renderMomentForm({ at, method, route }: SetComparison, base: string): Markup {
  return html`<form class="moment" action="${base}/compare"><input type="hidden" name="method" value="${method}"><input type="hidden" name="route" value="${route}"><label for="at">Moment (UTC)</label> <input id="at" type="datetime-local" step="1" name="at" value="${inputTime(at)}" required> <button>Compare</button></form>`
}

function renderSpreads(before: RequestSet, since: RequestSet): Markup {
  const scale = Math.max(before.duration.most, since.duration.most)
  return html`${renderTicks('A', before, scale)}
${renderTicks('B', since, scale)}`
}

function renderTicks(side: 'A' | 'B', { duration, durations }: RequestSet, scale: number): Markup {
  const { median, most } = duration
  const words = `${side}: median ${formatDuration(median)}, most ${formatDuration(most)}`
  return html`<div class="side-bar">${renderSide(side)}<svg class="ticks" role="img" aria-label="${words}"><line class="base" x1="0" x2="100%" y1="12" y2="12"/>${durations.map(time => renderTick(time, scale, 'each', 6))}${durations.length > 0 && renderTick(median, scale, 'median', 1)}</svg><span class="number">${durations.length > 0 ? formatDuration(median) : 'none'}</span></div>`
}

function renderTick(time: number, scale: number, className: string, y: number): Markup {
  const x = percent(time, scale)
  return html`<line class="${className}" x1="${x}" x2="${x}" y1="${y}" y2="${24 - y}"/>`
}

function renderMedians(comparison: SetComparison): Markup {
  return html`<table class="compared"><caption class="sr-only">Medians</caption><thead><tr><th scope="col">Measure</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
<tbody>${spreadRows(comparison).map(
    ({ name, before, since, format }) => html`
<tr><th scope="row">${name}</th><td>${spreadText(before, format)}</td><td>${spreadText(since, format)}</td></tr>`,
  )}
</tbody></table>`
}

/** The comparison of a route before a moment and since, as Markdown. */
export function renderSetComparisonMarkdown(comparison: SetComparison): string {
  const grounds = groundsText(comparison.verdict)
  const { at, before, method, route, since } = comparison
  return (
    blocks(
      `# ${plain(setSentence(comparison))}`,
      `${code(`${method} ${route}`)} before ${formatTime(at)} (${setSize(before)}) and since (${setSize(since)}).`,
      grounds === null ? null : plain(grounds),
      table(
        ['Median (middle half)', 'Before', 'Since'],
        spreadRows(comparison).map(({ name, before, since, format }) => [
          name,
          spreadText(before, format),
          spreadText(since, format),
        ]),
      ),
    ) + '\n'
  )
}
