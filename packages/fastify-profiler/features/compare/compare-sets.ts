import { quantile } from '../home/overview.ts'
import type { ProfileSummary, TimeKind } from '../../core/summary.ts'
import { type Block, type Blocks, blocksHtml, blocksMarkdown, type Inline } from '../../core/view/block.ts'
import { noPlace } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { renderPage } from '../../core/view/page.ts'
import { count, formatBytes, formatDuration, formatTime, renderTime } from '../../core/view/units.ts'
import { inputTime } from '../../core/urls.ts'
import { hatchPattern, percent } from '../performance/waterfall.ts'
import { pairTimes } from './comparison.ts'
import { groundsText, surenessText } from './comparison-text.ts'
import { pairedStacks, renderSide } from './comparison-page.ts'
import { judgeTimes, type Verdict } from './verdict.ts'

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
  const sorted = Float64Array.from(values).sort()
  const at = (part: number) => quantile(sorted, part)
  return { least: at(0), quarter: at(0.25), median: at(0.5), threeQuarters: at(0.75), most: at(1) }
}

export function setSentence({ before, since, verdict }: SetComparison): string {
  if (before.durations.length === 0 || since.durations.length === 0) {
    return `Nothing to compare: ${count(before.durations.length, 'request')} before, ${since.durations.length} since`
  }
  const { change, difference } = verdict
  const claim = change === 'none' ? 'No difference' : `Since then ${formatDuration(Math.abs(difference))} ${change}`
  const [from, to] = [before.queries.median, since.queries.median]
  const queries = from === to ? '' : `, ${from} → ${count(to, 'query', 'queries')}`
  return `${claim}, ${surenessText(verdict)}: ${formatDuration(before.duration.median)} → ${formatDuration(since.duration.median)}${queries}`
}

function setSize({ count: all, failed }: RequestSet): string {
  return `${count(all, 'request')}${failed > 0 ? `, ${failed} failed or unanswered` : ''}`
}

/** What is compared of a route: the medians, each with the middle half of all values. */
function mediansTable({ before, since }: SetComparison): Block {
  const row = (name: string, of: 'duration' | 'queries' | 'queryTime' | 'size', format: (value: number) => string) => [
    name,
    ...[before, since].map(set => (set.count === 0 ? 'none' : spreadText(set[of], format))),
  ]
  return {
    title: 'Medians',
    lines: 'compared',
    columns: [{ label: 'Measure' }, { label: 'A: before', kind: 'text' }, { label: 'B: since', kind: 'text' }],
    rows: [
      row('Time', 'duration', formatDuration),
      row('Queries', 'queries', String),
      row('Query time', 'queryTime', formatDuration),
      row('Response', 'size', formatBytes),
    ],
  }
}

/** The median with the middle half of all values: 31.2 ms (30.1 ms to 33.0 ms). */
function spreadText({ quarter, median, threeQuarters }: Spread, format: (value: number) => string): string {
  return quarter === threeQuarters
    ? format(median)
    : `${format(median)} (${format(quarter)} to ${format(threeQuarters)})`
}

/** A route before a moment (A) and since (B): the spread, where the time went, and the medians. */
export function setBlocks(comparison: SetComparison, base: string): Blocks {
  const { at, before, method, route, since } = comparison
  const grounds = groundsText(comparison.verdict)
  const times = pairTimes(before.times, since.times)
  const moment: Inline = { html: renderTime(at), markdown: formatTime(at) }
  const side = (letter: 'A' | 'B'): Inline => ({ html: html`${renderSide(letter)} `, markdown: `${letter}: ` })
  return [
    {
      text: [
        { code: `${method} ${route}` },
        [' before ', moment, ' (', side('A'), setSize(before), ') and since (', side('B'), setSize(since), ').'],
      ],
    },
    grounds !== null && { text: grounds, look: 'muted' },
    { html: renderMomentForm(comparison, base), markdown: '' },
    {
      section: 'Spread',
      note: 'a tick a request, a long tick the median; one scale',
      blocks: [{ html: renderSpreads(before, since), markdown: '' }],
    },
    {
      section: 'Where the time went',
      note: 'medians of each kind, in ms',
      blocks: [pairedStacks(times, before.duration.median, since.duration.median)],
    },
    { section: 'Medians', note: 'in brackets the middle half', blocks: [mediansTable(comparison)] },
  ]
}

export function renderSetComparisonPage(comparison: SetComparison, base: string, root: string): string {
  const { method, route } = comparison
  const sentence = setSentence(comparison)
  return renderPage({
    title: `${sentence} · ${method} ${route.slice(0, 80)}`,
    base,
    root,
    main: html`${hatchPattern}<h1 class="headline">${sentence}</h1>
${blocksHtml(setBlocks(comparison, base), noPlace, 2)}`,
    footer: html`<p>Compared are at most 200 requests before and 200 since.</p>`,
  })
}

export function renderSetComparisonMarkdown(comparison: SetComparison, base: string): string {
  const page = { section: setSentence(comparison), blocks: setBlocks(comparison, base) }
  return `${blocksMarkdown([page], '', 1)}\n`
}

function renderMomentForm({ at, method, route }: SetComparison, base: string): Markup {
  return html`<form class="row" action="${base}/compare"><input type="hidden" name="method" value="${method}"><input type="hidden" name="route" value="${route}"><label for="at">Moment (UTC)</label> <input id="at" type="datetime-local" step="1" name="at" value="${inputTime(at)}" required> <button>Compare</button></form>`
}

function renderSpreads(before: RequestSet, since: RequestSet): Markup {
  const scale = Math.max(before.duration.most, since.duration.most)
  return html`${renderTicks('A', before, scale)}
${renderTicks('B', since, scale)}`
}

function renderTicks(side: 'A' | 'B', { duration, durations }: RequestSet, scale: number): Markup {
  const { median, most } = duration
  const words = `${side}: median ${formatDuration(median)}, most ${formatDuration(most)}`
  return html`<div class="side-bar">${renderSide(side)}<svg width="100%" height="24" role="img" aria-label="${words}"><line class="base" x1="0" x2="100%" y1="12" y2="12"/>${durations.map(time => renderTick(time, scale, 'each', 6))}${durations.length > 0 && renderTick(median, scale, 'median', 1)}</svg><span class="number">${durations.length > 0 ? formatDuration(median) : 'none'}</span></div>`
}

function renderTick(time: number, scale: number, className: string, y: number): Markup {
  const x = percent(time, scale)
  return html`<line class="${className}" x1="${x}" x2="${x}" y1="${y}" y2="${24 - y}"/>`
}
