import { features } from '../../core/feature.ts'
import type { ViewContext } from '../../core/panel.ts'
import {
  type Block,
  type Blocks,
  blocksHtml,
  blocksMarkdown,
  type Fact,
  type Finding,
  type Inline,
  renderFacts,
} from '../../core/view/block.ts'
import { type Column, figures, levelName, statusText, statusTone } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { renderPage } from '../../core/view/page.ts'
import { renderRequestLine } from '../home/profile-header.ts'
import {
  alignNumber,
  count,
  cut,
  formatBytes,
  formatAge,
  formatDuration,
  formatMilliseconds,
  formatNumber,
  formatTime,
  renderTime,
} from '../../core/view/units.ts'
import { profileUrl, urlPart } from '../../core/urls.ts'
import { kindView, renderKind } from '../performance/exclusive-time.ts'
import { drawnApart, hatchPattern, renderAxis, renderPieces } from '../performance/waterfall.ts'
import {
  comparisonSentence,
  conclusionsOf,
  groundsText,
  isSameRoute,
  isSeenOnce,
  pairName,
  sameText,
  surenessText,
  verdictText,
} from './comparison-text.ts'
import {
  type ComparedRequest,
  type Comparison,
  differenceOf,
  type PairedTimes,
  type SpanPair,
  type StatementPair,
  type ValuePair,
} from './comparison.ts'
import { enough } from './verdict.ts'
import { stackedPieces, type Times, timesText } from '../performance/performance-panel.ts'

type Place = Pick<ViewContext, 'base' | 'root' | 'editorUrl'>

/** Rows shown without unfolding, and at most. */
const rowsOpen = 8
const rowsMost = 300
const longestValue = 200

/** Two requests side by side: first what changed, in words, then the times, statements and headers of both. */
export function renderComparisonPage(comparison: Comparison, place: Place): string {
  const { a, b } = comparison
  const { answer, logs, shapes, timelines, verdict, where } = comparisonParts(comparison)
  return renderPage({
    title: `${comparisonSentence(comparison)} · ${b.method} ${b.url.slice(0, 80)}`,
    base: place.base,
    root: place.root,
    header: html`<div class="two sides">${renderBand('A', a, place, null)}${renderBand('B', b, place, b.time - a.time)}</div>`,
    main: html`${hatchPattern}<section><div class="head"><h1 class="headline">${verdictText(comparison.verdict)} <small>${surenessText(comparison.verdict)}</small></h1>${renderActions(comparison, place)}</div>
${blocksHtml(verdict, place)}</section>
${blocksHtml([where, timelines], place, 2)}
<div class="two">${blocksHtml([shapes], place, 2)}${blocksHtml([answer], place, 2)}</div>
${blocksHtml(logs, place, 2)}`,
    footer: html`<p>In the timelines A is above, and B below. Spans are matched by kind, name and place. A difference is certain if calls explain it, or if at least five requests on each side show it in a rank test.</p>`,
  })
}

/** A comparison as Markdown: the sentence, both requests, what changed, and the tables behind it. */
export function renderComparisonMarkdown(comparison: Comparison, place: Place): string {
  const { a, b } = comparison
  const { answer, logs, shapes, timelines, verdict, where } = comparisonParts(comparison)
  const sides: Block = {
    metrics: [
      ['A', sideText(a, null)],
      ['B', sideText(b, b.time - a.time)],
    ],
  }
  const page = {
    section: comparisonSentence(comparison),
    blocks: [sides, ...verdict, where, timelines, shapes, answer, ...logs],
  }
  return `${blocksMarkdown([page], place.root, 1)}\n`
}

/** What both forms of a comparison say. */
export function comparisonParts(comparison: Comparison) {
  const { a, b, logs, notes, times } = comparison
  const grounds = groundsText(comparison.verdict)
  const unchanged: Finding = {
    tone: 'same',
    claim: null,
    detail: { muted: sameText(comparison) },
    aside: { html: html`<a href="#timelines">Show them</a>`, markdown: '' },
  }
  return {
    verdict: [
      ...notes.map(note => ({ notice: note })),
      { findings: [...conclusionsOf(comparison), unchanged] },
      grounds !== null && { text: grounds, look: 'muted' },
    ] satisfies Blocks,
    where: {
      section: 'Where the time went',
      note: 'each millisecond counted once; ms, on one scale',
      blocks: [pairedStacks(times, a.duration, b.duration)],
    } satisfies Block,
    timelines: timelinesOf(comparison),
    shapes: {
      section: 'Queries by shape',
      note: 'count, ms',
      blocks: statementBlocks(comparison.statements),
    } satisfies Block,
    answer: {
      section: 'Headers and answer',
      note: 'only what differs',
      blocks: [valueTable(comparison)],
    } satisfies Block,
    logs: [logs.length > 0 && logsSection(comparison)],
  }
}

function factsOf({ duration, queries, size, time }: ComparedRequest, later: number | null): Fact[] {
  const distance = later === null ? '' : `, ${distanceText(later)}`
  return [
    ['Time', formatDuration(duration)],
    ['Queries', queries.count > 0 ? `${queries.count} · ${formatDuration(queries.duration)}` : null],
    ['Response', sizeText(size)],
    ['When', { html: html`${renderTime(time)}${distance}`, markdown: `${formatTime(time)}${distance}` }],
  ]
}

function sideText(request: ComparedRequest, later: number | null): Inline {
  const { method, status, token, url } = request
  const facts = factsOf(request, later).map(([name, value]): Inline => value && [`, ${name} `, value])
  return [statusText(status), ', ', { code: `${method} ${url}` }, facts, ', profile ', { code: token }]
}

function renderBand(side: 'A' | 'B', request: ComparedRequest, place: Place, later: number | null): Markup {
  const { status, token } = request
  const link: Fact = ['Token', { link: { code: token }, to: profileUrl(place.base, token) }]
  return html`<section class="request ${statusTone(status)}" aria-label="Request ${side}"><div class="asked">${renderSide(side)}${renderRequestLine(request, null)}</div>
${renderFacts([...factsOf(request, later), link], place, `Facts of ${side}`)}</section>`
}

function distanceText(milliseconds: number): string {
  const distance = Math.abs(milliseconds)
  const text = distance < 1000 ? formatDuration(distance) : formatAge(0, distance).replace(/ ago$/, '')
  return `${text} ${milliseconds < 0 ? 'earlier' : 'later'}`
}

export function comparisonUrl(base: string, a: string, b: string): string {
  return `${base}/compare/${urlPart(a)}/${urlPart(b)}`
}

/** How often B is sent again to be sure. */
export const replays = 7

/** Whether more requests like B, which are the later ones, would make the comparison certain. */
function isWorthReplays({ a, b, verdict }: Comparison): boolean {
  const isRepeatable = features.some(({ repeat }) => repeat !== undefined) && /^(?:GET|HEAD)$/.test(b.method)
  return (
    isRepeatable && verdict.sureness === 'seen' && verdict.requests.a >= enough && a.time < b.time && isSameRoute(a, b)
  )
}

function renderActions(comparison: Comparison, place: Place): Markup {
  const { base } = place
  const { a, b } = comparison
  const { method, route } = b
  const isOneRoute = route !== null && isSameRoute(a, b)
  const wholeRoute = `${base}/compare?method=${urlPart(method)}&route=${urlPart(route ?? '')}&at=${Math.max(a.time, b.time)}`
  return html`<span class="right chips">${isWorthReplays(comparison) && html`<form method="post" action="${comparisonUrl(base, a.token, b.token)}"><button class="button primary">Replay B ${replays} times to be sure</button></form>`}<a class="button" href="${comparisonUrl(base, b.token, a.token)}">Swap A and B</a><button type="button" data-copy-text="${renderComparisonMarkdown(comparison, place)}" hidden>Copy as Markdown</button>${isOneRoute && html`<a class="button" href="${wholeRoute}">Compare the whole route…</a>`}</span>`
}

function timelinesOf({ a, b, spans }: Comparison): Block {
  const scale = Math.max(a.duration, b.duration)
  const changed = spans.filter(({ change }) => change !== null).length
  const open = spans.slice(0, Math.max(rowsOpen, Math.min(changed, rowsMost)))
  const folded = spans.slice(open.length, rowsMost)
  const left = spans.length - open.length - folded.length
  return {
    section: 'Timelines',
    id: 'timelines',
    note: 'most changed first; ms',
    blocks: [
      spanTable('Timelines', open, scale),
      folded.length > 0 && { fold: `${folded.length} more`, blocks: [spanTable('More timelines', folded, scale)] },
      leftOut(left, 'row'),
    ],
  }
}

function leftOut(number: number, what: string): Block | false {
  return number > 0 && { text: `${count(number, `more ${what}`)} not shown.`, look: 'muted' }
}

const calledFrom = { label: 'Called from', isWide: true } as const

function spanTable(title: string, spans: readonly SpanPair[], scale: number): Block {
  const when: Column = { label: 'When', head: renderAxis(scale, scale), isWide: true, only: 'page' }
  return {
    title,
    lines: 'compared',
    empty: 'Nothing was timed in either request.',
    columns: [{ label: 'Span' }, calledFrom, figures('A'), figures('B'), figures('Change'), when],
    rows: spans.map(pair => {
      const { a, b, kind, location } = pair
      return [
        [{ html: renderKind(kind), markdown: '' }, countsOf(pair), pairName(pair)],
        location === null ? null : { place: location },
        timeCell(a?.time),
        timeCell(b?.time),
        changeOf(pair),
        { html: renderPairBar(pair, scale), markdown: '' },
      ]
    }),
  }
}

function countsOf({ a, b }: SpanPair): Inline {
  const [before = 0, after = before] = [a?.count ?? b?.count, b?.count]
  if (before !== after) return [{ strong: `${before} × → ${after} ×` }, ' ']
  return before > 1 ? [{ strong: `${before} ×` }, ' '] : null
}

const none: Inline = { muted: 'none' }

function timeCell(time: number | undefined): Inline {
  return time === undefined ? none : formatMilliseconds(time)
}

function changeOf(pair: SpanPair): Inline {
  const { a, b, change } = pair
  const difference = differenceOf(pair)
  const text = `${difference < 0 ? '−' : '+'}${alignNumber(Math.abs(difference))}`
  if (change === null) return { muted: isSeenOnce(pair) ? `${text} seen once` : 'about equal' }
  if (b === null) return { strong: 'gone' }
  if (a === null) return { strong: 'new' }
  return { strong: text, tone: difference < 0 ? 'good' : 'error' }
}

function statementBlocks(statements: readonly StatementPair[]): Blocks {
  const counts = [figures('A'), figures('A ms'), figures('B'), figures('B ms')]
  return [
    {
      title: 'Queries by shape',
      lines: 'compared',
      empty: 'No query in either request.',
      columns: [{ label: 'Statement' }, { ...calledFrom, only: 'text' }, ...counts],
      rows: statements
        .slice(0, rowsMost)
        .map(({ shape, location, a, b }) => [
          sided({ code: cut(shape, longestValue) }, a !== null, b !== null),
          location === null ? null : { place: location },
          a?.count ?? null,
          formatMilliseconds(a?.time),
          b?.count ?? null,
          formatMilliseconds(b?.time),
        ]),
    },
    leftOut(statements.length - rowsMost, 'statement'),
  ]
}

/** What only one side has is marked by a sign and a colour. */
function sided(shown: Inline, isInA: boolean, isInB: boolean): Inline {
  if (isInA && isInB) return shown
  return isInB ? { strong: ['+ ', shown], tone: 'good' } : { strong: ['− ', shown], tone: 'error' }
}

function valueTable({ a, b, values }: Comparison): Block {
  const body: ValuePair[] =
    a.size === b.size ? [] : [{ name: 'body', of: 'response', a: sizeText(a.size), b: sizeText(b.size) }]
  return {
    title: 'Headers and answer',
    lines: 'compared',
    empty: 'Nothing differs.',
    columns: [{ label: 'Name' }, { label: 'A', kind: 'text' }, { label: 'B', kind: 'text' }],
    rows: [...values, ...body]
      .slice(0, rowsMost)
      .map(({ name, of, a, b }) => [
        [{ code: name }, of === 'request' ? [' ', { small: 'request' }] : null],
        a === null ? none : sided({ code: cut(a, longestValue) }, true, b !== null),
        b === null ? none : sided({ code: cut(b, longestValue) }, a !== null, true),
      ]),
  }
}

function sizeText(size: number | null): string | null {
  return size === null ? null : formatBytes(size)
}

function logsSection({ logs }: Comparison): Block {
  return {
    section: 'Log lines',
    note: 'only what differs; numbers in messages do not count',
    blocks: [
      {
        title: 'Log lines',
        lines: 'compared',
        columns: [{ label: 'Message' }, { label: 'Level' }, figures('A'), figures('B')],
        rows: logs
          .slice(0, rowsMost)
          .map(({ level, message, a, b }) => [sided(cut(message, longestValue), a > 0, b > 0), levelName(level), a, b]),
      },
    ],
  }
}

export function renderSide(side: 'A' | 'B'): Markup {
  return html`<span class="badge neutral${side === 'B' && ' solid'}">${side}</span>`
}

/** Two bars on one scale, A above B, with a legend that has the numbers of both. */
export function pairedStacks(times: PairedTimes, totalA: number, totalB: number): Block {
  const scale = Math.max(totalA, totalB)
  const legend = times.map(([kind, a, b]) => ({ kind, label: kindView(kind).label, a: timeText(a), b: timeText(b) }))
  const timesOf = (side: 1 | 2) => times.map(each => [each[0], each[side]] as const)
  return {
    html: html`${renderStack('A', totalA, timesOf(1), scale)}
${renderStack('B', totalB, timesOf(2), scale)}
<ul class="legend row">${legend.map(
      ({ kind, label, a, b }) => html`
<li>${renderKind(kind)}${label} <span class="muted">${a} →</span> <b>${b}</b></li>`,
    )}
</ul>`,
    markdown: legend.map(({ label, a, b }) => `- ${label}: ${a} → ${b}`).join('\n'),
  }
}

function renderStack(side: 'A' | 'B', total: number, times: Times, scale: number): Markup {
  const some = times.filter(([, time]) => time > 0)
  return html`<div class="side-bar">${renderSide(side)}<svg class="stack" width="100%" height="24" role="img" aria-label="${side}: ${timesText(some)}">${renderPieces(stackedPieces(some), scale, 0, 24)}</svg><span class="number">${formatDuration(total)}</span></div>`
}

function timeText(time: number): string {
  return time > 0 ? formatNumber(time) : 'none'
}

/** When something ran: in A above and pale, in B below and full. */
function renderPairBar({ a, b, kind }: SpanPair, scale: number): Markup {
  const { colour } = kindView(kind)
  const piecesOf = (times: SpanPair['a']) =>
    drawnApart(
      (times?.pieces ?? []).map(piece => ({ colour, ...piece })),
      scale,
    )
  return html`<svg class="pair-bar" height="24" aria-hidden="true"><g class="a">${renderPieces(piecesOf(a), scale, 4, 7)}</g>${renderPieces(piecesOf(b), scale, 13, 7)}</svg>`
}
