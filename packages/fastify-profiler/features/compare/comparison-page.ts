import type { ViewContext } from '../../core/panel.ts'
import type { TimeKind } from '../../core/summary.ts'
import {
  levelName,
  locationText,
  renderEmptyState,
  renderLocation,
  statusText,
  statusTone,
} from '../../core/view/elements.ts'
import { type Content, html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { renderPage } from '../../core/view/page.ts'
import { renderRequestLine } from '../../core/view/profile-header.ts'
import {
  alignNumber,
  count,
  formatBytes,
  formatDuration,
  formatMilliseconds,
  formatNumber,
  formatTime,
  renderTime,
} from '../../core/view/units.ts'
import { comparisonUrl, profileUrl, setComparisonUrl } from '../../core/view/urls.ts'
import { kindView, renderKind } from '../performance/exclusive-time.ts'
import { stackedPieces } from '../performance/performance-panel.ts'
import { axisTicks, type BarPiece, hatchPattern, percent, renderPieces } from '../performance/waterfall.ts'
import {
  comparisonSentence,
  conclusionsOf,
  groundsText,
  pairName,
  renderChangeMark,
  sameText,
  surenessText,
  verdictText,
} from './comparison-text.ts'
import {
  type ComparedRequest,
  type Comparison,
  differenceOf,
  type SpanPair,
  type StatementPair,
  type ValuePair,
} from './comparison.ts'

const rowsListed = 30

/** A comparison as Markdown: the sentence, what changed, and the tables behind it. */
export function renderComparisonMarkdown(comparison: Comparison, root: string): string {
  const { a, b, logs, notes, values, verdict } = comparison
  const grounds = groundsText(verdict)
  return (
    blocks(
      `# ${plain(comparisonSentence(comparison))}`,
      [`- A: ${requestText(a)}`, `- B: ${requestText(b)}`, ...notes.map(note => `- ${plain(note)}`)].join('\n'),
      [
        ...conclusionsOf(comparison).map(({ claim, detail, location }) => {
          const place = location === null ? '' : ` ${code(locationText(location, root))}`
          return `- ${plain(`${claim} ${detail}`.trim())}${place}`
        }),
        `- ${sameText(comparison)}`,
        ...(grounds === null ? [] : [`- ${grounds}`]),
      ].join('\n'),
      '## Spans',
      spansTable(comparison, root),
      '## SQL by shape',
      statementsTable(comparison, root),
      '## Headers that differ',
      values.length === 0
        ? 'None.'
        : table(
            ['Name', 'A', 'B'],
            values.map(({ name, of, a, b }) => [code(`${name} (${of})`), valueText(a), valueText(b)]),
          ),
      logs.length === 0 ? null : '## Log lines that differ',
      logs.length === 0
        ? null
        : table(
            ['Level', 'Message', 'A', 'B'],
            logs
              .slice(0, rowsListed)
              .map(({ level, message, a, b }) => [levelName(level), plain(message), String(a), String(b)]),
          ),
    ) + '\n'
  )
}

function requestText({ duration, method, status, time, token, url }: ComparedRequest): string {
  return `${statusText(status)}, ${code(`${method} ${url}`)}, ${formatDuration(duration)}, ${formatTime(time)}, profile ${code(token)}`
}

function spansTable({ spans }: Comparison, root: string): string {
  return table(
    ['Span', 'Called from', 'A', 'B', 'Change'],
    spans.slice(0, rowsListed).map(pair => {
      const { a, b, change, location } = pair
      return [
        plain(pairName(pair)),
        location === null ? '' : code(locationText(location, root)),
        timesText(a),
        timesText(b),
        change === null ? 'much the same' : formatChange(differenceOf(pair)),
      ]
    }),
  )
}

function timesText(times: Comparison['spans'][number]['a']): string {
  return times === null ? 'none' : `${times.count} ×, ${formatDuration(times.time)}`
}

function formatChange(difference: number): string {
  return `${difference < 0 ? '−' : '+'}${formatDuration(Math.abs(difference))}`
}

function statementsTable({ statements }: Comparison, root: string): string {
  if (statements.length === 0) return 'None.'
  return table(
    ['Statement', 'Called from', 'A', 'B'],
    statements
      .slice(0, rowsListed)
      .map(({ shape, location, a, b }) => [
        code(shape),
        location === null ? '' : code(locationText(location, root)),
        a === null ? 'none' : `${a.count} ×, ${formatDuration(a.time)}`,
        b === null ? 'none' : `${b.count} ×, ${formatDuration(b.time)}`,
      ]),
  )
}

function valueText(value: string | null): string {
  return value === null ? 'none' : code(value)
}

/** The gap between pieces, as a part of the scale. Four gaps are the least width of a piece. */
const resolution = 1 / 500

type PairedTimes = ReadonlyArray<readonly [kind: TimeKind, a: number, b: number]>

/** The letter of one side. */
export function renderSide(side: 'A' | 'B'): Markup {
  return html`<span class="side ${side.toLowerCase()}">${side}</span>`
}

/** Two bars on one scale, A above B, with a legend that has the numbers of both. */
export function renderPairedStacks(times: PairedTimes, totalA: number, totalB: number): Markup {
  const scale = Math.max(totalA, totalB)
  return html`${renderStack(
    'A',
    totalA,
    times.map(([kind, a]) => [kind, a]),
    scale,
  )}
${renderStack(
  'B',
  totalB,
  times.map(([kind, , b]) => [kind, b]),
  scale,
)}
<ul class="legend">${times.map(
    ([kind, a, b]) => html`
<li>${renderKind(kind)}${kindView(kind).label} <span class="muted">&nbsp;${timeText(a)} →</span><b>${timeText(b)}</b></li>`,
  )}
</ul>`
}

function renderStack(
  side: 'A' | 'B',
  total: number,
  times: ReadonlyArray<readonly [kind: TimeKind, time: number]>,
  scale: number,
): Markup {
  const some = times.filter(([, time]) => time > 0)
  const words = some.map(([kind, time]) => `${kindView(kind).label} ${formatDuration(time)}`).join(', ')
  return html`<div class="side-bar">${renderSide(side)}<svg class="stack" role="img" aria-label="${side}: ${words}">${renderPieces(stackedPieces(some), scale, 0, 24)}</svg><span class="number">${formatDuration(total)}</span></div>`
}

function timeText(time: number): string {
  return time > 0 ? formatNumber(time) : 'none'
}

/** The heading of the timelines: round numbers along the scale. */
function renderPairAxis(scale: number): Markup {
  return html`<svg class="axis" role="img" aria-label="0 to ${formatDuration(scale)}"><text x="0%" y="14">0</text>${axisTicks(scale).map(tick => html`<text x="${percent(tick, scale)}" y="14" text-anchor="middle">${tick}</text>`)}<text x="100%" y="14" text-anchor="end">${formatNumber(scale)} ms</text></svg>`
}

/** When something ran: in A above and pale, in B below and full. */
function renderPairBar({ a, b, kind }: SpanPair, scale: number): Markup {
  const { colour } = kindView(kind)
  return html`<svg class="pair-bar" aria-hidden="true"><g class="a">${renderPieces(drawn(a, colour, scale), scale, 4, 7)}</g>${renderPieces(drawn(b, colour, scale), scale, 13, 7)}</svg>`
}

/** The pieces of one side, with a gap between them so that repetitions can be counted. */
function drawn(times: SpanPair['a'], colour: string, scale: number): BarPiece[] {
  const gap = scale * resolution
  const pieces: BarPiece[] = []
  for (const [start, end] of times?.pieces ?? []) {
    const last = pieces.at(-1)
    if (last !== undefined && end - last.start < gap * 4) last.end = end
    else {
      if (last !== undefined) last.end = Math.min(last.end, start - gap)
      pieces.push({ colour, start, end })
    }
  }
  return pieces
}

type Place = Pick<ViewContext, 'base' | 'root' | 'editorUrl'>

/** Rows shown without unfolding, and at most. */
const rowsOpen = 8
const rowsMost = 300
const longestValue = 200

/** Two requests side by side: first what changed, in words, then the times, statements and headers of both. */
export function renderComparisonPage(comparison: Comparison, place: Place): string {
  const { a, b, notes } = comparison
  return renderPage({
    title: `${comparisonSentence(comparison)} · ${b.method} ${b.url.slice(0, 80)}`,
    base: place.base,
    header: html`<div class="sides">${renderBand('A', a, place.base, null)}${renderBand('B', b, place.base, b.time - a.time)}</div>`,
    main: html`${hatchPattern}<section aria-labelledby="verdict"><div class="head"><h1 id="verdict" class="headline">${verdictText(comparison.verdict)} <small>${surenessText(comparison.verdict)}</small></h1>${renderActions(comparison, place)}</div>
${notes.map(note => html`<p class="notice">${note}</p>`)}
${renderConclusions(comparison, place)}</section>
<section aria-labelledby="where"><h2 id="where">Where the time went <small>each millisecond counted once; one scale</small></h2>
${renderPairedStacks(comparison.times, a.duration, b.duration)}</section>
${renderTimelines(comparison, place)}
<div class="two"><section aria-labelledby="shapes"><h2 id="shapes">SQL by shape <small>count, ms</small></h2>${renderStatements(comparison.statements)}</section>
<section aria-labelledby="values"><h2 id="values">Headers and answer <small>only what differs</small></h2>${renderValues(comparison)}</section></div>
${renderLogs(comparison)}`,
    footer: html`<p>Spans are matched by kind, name and place. A difference is certain if calls explain it, or if at least five requests on each side show it in a rank test.</p>`,
  })
}

function renderBand(side: 'A' | 'B', request: ComparedRequest, base: string, later: number | null): Markup {
  const { duration, queries, size, status, time, token } = request
  const facts: Array<readonly [name: string, value: Content]> = [
    ['Time', formatDuration(duration)],
    ...(queries.count > 0 ? [['SQL', `${queries.count} · ${formatDuration(queries.duration)}`] as const] : []),
    ...(size === null ? [] : [['Response', formatBytes(size)] as const]),
    ['When', html`${renderTime(time)}${later !== null && `, ${distanceText(later)}`}`],
    ['Token', html`<a href="${profileUrl(base, token)}"><code>${token}</code></a>`],
  ]
  return html`<section class="request ${statusTone(status)}" aria-label="Request ${side}"><div class="asked">${renderSide(side)}${renderRequestLine(request, null)}</div>
<dl class="facts" tabindex="0" aria-label="Facts of ${side}">${facts.map(([name, value]) => html`<div><dt>${name}</dt> <dd>${value}</dd></div>`)}</dl></section>`
}

function distanceText(milliseconds: number): string {
  return `${formatDuration(Math.abs(milliseconds))} ${milliseconds < 0 ? 'earlier' : 'later'}`
}

function renderActions(comparison: Comparison, { base, root }: Place): Markup {
  const { a, b } = comparison
  const { method, route } = b
  const isOneRoute = route !== null && a.route === route && a.method === method
  const later = Math.max(a.time, b.time)
  return html`<span class="right"><a class="button" href="${comparisonUrl(base, b.token, a.token)}">Swap A and B</a><button type="button" data-copy-text="${renderComparisonMarkdown(comparison, root)}" hidden>Copy as Markdown</button>${isOneRoute && html`<a class="button" href="${setComparisonUrl(base, method, route, later)}">Compare the whole route…</a>`}</span>`
}

function renderConclusions(comparison: Comparison, place: Place): Markup {
  const grounds = groundsText(comparison.verdict)
  return html`<ul class="findings">${conclusionsOf(comparison).map(
    ({ tone, claim, detail, location }) => html`
<li>${renderChangeMark(tone)}<p><b>${claim}</b> ${detail}</p>${location !== null && renderLocation(location, place)}</li>`,
  )}
<li><b class="muted" aria-hidden="true">=</b><p class="muted">${sameText(comparison)}</p><a href="#timelines">Show them</a></li></ul>
${grounds !== null && html`<p class="muted">${grounds}</p>`}`
}

function renderTimelines({ a, b, spans }: Comparison, place: Place): Markup {
  const scale = Math.max(a.duration, b.duration)
  const changed = spans.filter(({ change }) => change !== null).length
  const open = spans.slice(0, Math.max(rowsOpen, Math.min(changed, rowsMost)))
  const folded = spans.slice(open.length, rowsMost)
  const left = spans.length - open.length - folded.length
  return html`<section aria-labelledby="timelines"><h2 id="timelines">Timelines <small>most changed first; upper bar A, lower bar B; ms</small></h2>
${spans.length === 0 ? renderEmptyState('Nothing was timed in either request.') : renderSpanTable('Timelines', open, scale, place)}
${folded.length > 0 && html`<details class="fold"><summary>${folded.length} more</summary>${renderSpanTable('More timelines', folded, scale, place)}</details>`}
${left > 0 && html`<p class="muted">${count(left, 'more row')} not shown.</p>`}</section>`
}

function renderSpanTable(caption: string, spans: readonly SpanPair[], scale: number, place: Place): Markup {
  return html`<table class="lines compared"><caption class="sr-only">${caption}</caption><colgroup><col><col class="where only-wide"><col class="ms"><col class="ms"><col class="change"><col class="bars only-wide"></colgroup>
<thead><tr><th scope="col">Span</th><th scope="col" class="only-wide">Called from</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">Change</th><th scope="col" class="only-wide">${renderPairAxis(scale)}</th></tr></thead>
<tbody>${spans.map(pair => renderSpanRow(pair, scale, place))}
</tbody></table>`
}

function renderSpanRow(pair: SpanPair, scale: number, place: Place): Markup {
  const { a, b, kind, location } = pair
  return html`
<tr><th scope="row">${renderKind(kind)}${renderCounts(pair)}${pairName(pair)}</th><td class="only-wide">${location !== null && renderLocation(location, place)}</td><td class="number">${renderMs(a?.time)}</td><td class="number">${renderMs(b?.time)}</td><td class="number">${renderChange(pair)}</td><td class="only-wide">${renderPairBar(pair, scale)}</td></tr>`
}

function renderCounts({ a, b }: SpanPair): Markup | null {
  const [before, after] = [a?.count ?? 0, b?.count ?? 0]
  if (before !== after) return html`<b>${before} × → ${after} ×</b> `
  return before > 1 ? html`<b>${before} ×</b> ` : null
}

function renderMs(time: number | undefined): Content {
  return time === undefined ? html`<span class="muted">none</span>` : formatMilliseconds(time)
}

function renderChange(pair: SpanPair): Markup {
  const { a, b, change } = pair
  if (change === null) return html`<span class="muted">much the same</span>`
  if (b === null) return html`<b>gone</b>`
  if (a === null) return html`<b>new</b>`
  const difference = differenceOf(pair)
  const sign = difference < 0 ? '−' : '+'
  return html`<b class="text-${difference < 0 ? 'good' : 'error'}">${sign}${alignNumber(Math.abs(difference))}</b>`
}

function renderStatements(statements: readonly StatementPair[]): Markup {
  if (statements.length === 0) return renderEmptyState('No query in either request.')
  const left = statements.length - rowsMost
  return html`<table class="lines compared"><caption class="sr-only">SQL by shape</caption><colgroup><col><col class="few"><col class="ms"><col class="few"><col class="ms"></colgroup>
<thead><tr><th scope="col">Statement</th><th scope="col" class="number">A</th><th scope="col" class="number">A ms</th><th scope="col" class="number">B</th><th scope="col" class="number">B ms</th></tr></thead>
<tbody>${statements.slice(0, rowsMost).map(
    ({ shape, a, b }) => html`
<tr><th scope="row" title="${shape.slice(0, longestValue)}"><code>${renderSided(shape, a !== null, b !== null)}</code></th><td class="number">${a?.count}</td><td class="number">${formatMilliseconds(a?.time)}</td><td class="number">${b?.count}</td><td class="number">${formatMilliseconds(b?.time)}</td></tr>`,
  )}
</tbody></table>${left > 0 && html`<p class="muted">${count(left, 'more statement')} not shown.</p>`}`
}

/** A text that only one side has is marked by a sign and a colour. */
function renderSided(text: string, isInA: boolean, isInB: boolean): Content {
  const shown = text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
  if (!isInB) return html`<del>− ${shown}</del>`
  return isInA ? shown : html`<ins>+ ${shown}</ins>`
}

function renderValues({ a, b, values }: Comparison): Markup {
  const body: ValuePair[] =
    a.size === b.size ? [] : [{ name: 'body', of: 'response', a: sizeText(a.size), b: sizeText(b.size) }]
  const rows = [...values, ...body]
  if (rows.length === 0) return renderEmptyState('Nothing differs.')
  return html`<table class="lines compared"><caption class="sr-only">Headers and answer</caption><colgroup><col class="name"><col><col></colgroup>
<thead><tr><th scope="col">Name</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
<tbody>${rows.slice(0, rowsMost).map(
    ({ name, of, a, b }) => html`
<tr><th scope="row"><code>${name}</code>${of === 'request' && html` <small>request</small>`}</th><td>${renderValue(a, b)}</td><td>${renderValue(b, a, true)}</td></tr>`,
  )}
</tbody></table>`
}

function renderValue(value: string | null, other: string | null, isInB = false): Markup {
  if (value === null) return html`<span class="muted">none</span>`
  return html`<code>${renderSided(value, !isInB || other !== null, isInB || other !== null)}</code>`
}

function sizeText(size: number | null): string | null {
  return size === null ? null : formatBytes(size)
}

function renderLogs({ logs }: Comparison): Markup | null {
  if (logs.length === 0) return null
  return html`<section aria-labelledby="lines"><h2 id="lines">Log lines <small>only what differs; numbers in messages do not count</small></h2>
<table class="lines compared"><caption class="sr-only">Log lines</caption><colgroup><col class="level"><col><col class="few"><col class="few"></colgroup>
<thead><tr><th scope="col">Level</th><th scope="col">Message</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th></tr></thead>
<tbody>${logs.slice(0, rowsMost).map(
    ({ level, message, a, b }) => html`
<tr><td>${levelName(level)}</td><th scope="row">${renderSided(message, a > 0, b > 0)}</th><td class="number">${a}</td><td class="number">${b}</td></tr>`,
  )}
</tbody></table></section>`
}
