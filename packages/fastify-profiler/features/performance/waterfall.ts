import type { Tone } from '../../core/panel.ts'
import { activeTimes, lengthOf, runsOf, waitsOf, without } from '../../core/intervals.ts'
import type { Profile, Span } from '../../core/profile.ts'
import type { TimeKind } from '../../core/summary.ts'
import { renderBadge, renderEmptyState, renderIndent, renderLocation } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { count, cut, formatDuration, formatMilliseconds, formatNumber, formatShare } from '../../core/view/units.ts'
import {
  childrenOf,
  gatherCalls,
  isOperation,
  kindView,
  renderKind,
  sliceTime,
  spansAt,
  type Timed,
  type TimedContext,
  timeKindOf,
  type TimeSlice,
  timesOf,
} from './exclusive-time.ts'
import { isLoop } from './findings.ts'

/** A rectangle of a bar, in the unit of its scale. */
export interface BarPiece {
  colour: string
  start: number
  end: number
}

/** A part of a whole as an SVG length, in hundredths of a per cent. */
export function percent(part: number, whole: number): string {
  return `${Math.round(Math.min(1, Math.max(0, whole > 0 ? part / whole : 0)) * 10_000) / 100}%`
}

/** Rectangles on a scale that starts at 0, cut off at its end. Attributes, since the policy forbids inline styles. */
export function renderPieces(pieces: readonly BarPiece[], scale: number, y: number, height: number): Markup {
  return html`${pieces.map(({ colour, start, end }) => {
    // Wide enough to see, and never past the edge.
    const width = Math.max(Math.min(end, scale) - start, scale * 0.003)
    return html`<rect class="${colour}"${colour in patterns && html` fill="url(#${patterns[colour]})"`} x="${percent(Math.min(start, scale - width), scale)}" y="${y}" width="${percent(width, scale)}" height="${height}"/>`
  })}`
}

/** The patterns of pieces in which nothing of the request ran, by colour. */
const patterns: Partial<Record<string, string>> = { wait: 'hatch', blocked: 'lines' }

/** What these pieces are filled with. Once on each page that has bars. */
export const hatchPattern = html`<svg width="0" height="0" class="sr-only" aria-hidden="true"><defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch-ink" x1="0" y1="0" x2="0" y2="4"/></pattern><pattern id="lines" width="4" height="4" patternUnits="userSpaceOnUse"><line class="hatch-ink" x1="0" y1="2" x2="4" y2="2"/></pattern></defs></svg>`

/** What the lines folded below the waterfall are, and how long they took: 9 hooks, 1 query, 2 gaps, … */
function foldedText(rows: readonly WaterfallRow[], total: number, threshold: number): string {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(nounOf(row), (counts.get(nounOf(row)) ?? 0) + Math.max(1, timesOf(row.spans)))
  const words = [...counts].map(([noun, number]) => count(number, noun, noun === 'query' ? 'queries' : `${noun}s`))
  return `${words.join(', ')}, each under ${formatNumber(threshold)} ms, ${formatDuration(total)} together`
}

function nounOf({ spans: [span] }: WaterfallRow): string {
  if (span === undefined) return 'gap'
  if (span.kind === 'other') return 'other call'
  if (span.kind === 'cache') return 'cache call'
  if (span.kind === 'http') return 'HTTP call'
  return span.kind.replaceAll('-', ' ')
}

/** A request this many times as long as what ran in it is cut off: its tail would leave no room for the bars. */
const longTail = 3

/** Milliseconds that the width of the waterfall stands for. */
export function waterfallScale({ duration, spans }: Pick<Profile, 'duration' | 'spans'>): number {
  const ran = spans.reduce((latest, span) => Math.max(latest, span.start + span.duration), 0)
  return ran > 0 && duration > ran * longTail ? ran * 1.1 : Math.max(duration, ran)
}

/** Round numbers along the scale, three to six of them, none close to its end. */
function axisTicks(scale: number): number[] {
  if (!(scale > 0)) return []
  const magnitude = 10 ** Math.floor(Math.log10(scale))
  const step = magnitude * ([0.2, 0.5, 1].find(part => scale <= part * magnitude * 6) ?? 2)
  const ticks: number[] = []
  for (let number = 1; number * step < scale * 0.78; number++) ticks.push(Number((number * step).toPrecision(3)))
  return ticks
}

/** A line of the waterfall: a function, an operation with its repetitions, or a gap that has no spans. */
interface WaterfallRow {
  kind: TimeKind
  spans: readonly Span[]
  depth: number
  start: number
  /** Milliseconds in which at least one of its spans ran. */
  time: number
  /** Whether it is shorter than the threshold, with all below it. */
  isShort: boolean
  pieces: BarPiece[]
}

/** Pieces of a bar closer together than this part of the scale are drawn as one. */
const resolution = 1 / 500

const gaps = new Set<TimeKind>(['reading', 'serialization', 'sending', 'blocked', 'unaccounted'])

/** The lines of the waterfall in the order in which they started, each followed by those below it. */
export function waterfallRows(
  profile: Pick<Timed, 'eventLoop' | 'spans'>,
  slices: readonly TimeSlice[],
  threshold: number,
  scale: number,
): WaterfallRow[] {
  const { eventLoop, spans } = profile
  const children = childrenOf(spans)
  const calls = new Map(gatherCalls(profile).map(call => [call.ids[0], call]))

  /** The line of a span, and those below it; none for a repetition, which the first of its kind stands for. */
  const rowsOf = (id: number, depth: number): WaterfallRow[] => {
    const span = spans[id]
    const call = calls.get(id)
    if (span === undefined || (isOperation(span) && call === undefined)) return []
    const same = call === undefined ? [span] : spansAt(spans, call.ids)
    const within = children.get(id) ?? []
    const below = rowsBelow(within, depth + 1)
    const time =
      call === undefined
        ? span.duration
        : lengthOf(same.flatMap(one => activeTimes(one, eventLoop.blocked, one.duration)))
    const isTelling = same.some(({ outcome }) => outcome === 'threw' || outcome === 'unfinished')
    return [
      {
        kind: timeKindOf(span),
        spans: same,
        depth,
        start: span.start,
        time,
        isShort: time < threshold && !isTelling && below.every(row => row.isShort),
        pieces: isOperation(span)
          ? operationPieces(same, eventLoop, scale)
          : functionPieces(span, merge(spansAt(spans, within).map(pieceOf), scale)),
      },
      ...below,
    ]
  }
  const rowsBelow = (ids: readonly number[], depth: number): WaterfallRow[] => inOrder(ids.map(id => rowsOf(id, depth)))

  return inOrder([
    ...(children.get(null) ?? []).map(id => rowsOf(id, 0)),
    ...slices.filter(({ kind }) => gaps.has(kind)).map(slice => [gapRow(slice, threshold)]),
  ])
}

function inOrder(groups: ReadonlyArray<readonly WaterfallRow[]>): WaterfallRow[] {
  return groups.toSorted(([one], [other]) => (one?.start ?? 0) - (other?.start ?? 0)).flat()
}

function gapRow({ kind, start, end }: TimeSlice, threshold: number): WaterfallRow {
  const pieces = [{ colour: kindView(kind).colour, start, end }]
  return { kind, spans: [], depth: 0, start, time: end - start, isShort: end - start < threshold, pieces }
}

function pieceOf(span: Span): BarPiece {
  return { colour: kindView(timeKindOf(span)).colour, start: span.start, end: span.start + span.duration }
}

/** Hatched pieces for waits, and full ones for when the operations ran. */
function operationPieces(spans: readonly Span[], { blocked }: Timed['eventLoop'], scale: number): BarPiece[] {
  const runs = spans.flatMap(span => runsOf(span, blocked, span.duration).map(run => ({ ...pieceOf(span), ...run })))
  const waits = spans.flatMap(span => waitsOf(span, blocked, span.duration).map(wait => ({ ...wait, colour: 'wait' })))
  return [...merge(waits, scale), ...drawnApart(runs, scale)]
}

/** A pale piece for the whole function, and full ones for its own time. */
function functionPieces(span: Span, within: readonly BarPiece[]): BarPiece[] {
  const { colour, start, end } = pieceOf(span)
  if (within.length === 0) return [{ colour, start, end }]
  // What a plugin registers runs after it.
  const own = without(
    { start, end },
    within.filter(piece => piece.start < end),
  )
  return [{ colour: `${colour} calling`, start, end }, ...own.map(piece => ({ colour, ...piece }))]
}

/** Pieces with a gap between them, so that repetitions can be counted. */
export function drawnApart(pieces: readonly BarPiece[], scale: number): BarPiece[] {
  return merge(pieces, scale).map((piece, index, merged) => {
    const next = merged[index + 1]
    return next === undefined ? piece : { ...piece, end: Math.min(piece.end, next.start - scale * resolution) }
  })
}

/** Joins pieces that overlap, or that are too close to be told apart. */
function merge(pieces: readonly BarPiece[], scale: number): BarPiece[] {
  const merged: BarPiece[] = []
  for (const piece of pieces.toSorted((one, other) => one.start - other.start)) {
    const before = merged.at(-1)
    const isNarrow = piece.end - (before?.start ?? 0) < scale * resolution * 4
    if (before !== undefined && (piece.start < before.end || isNarrow)) {
      before.end = Math.max(before.end, piece.end)
    } else merged.push({ ...piece })
  }
  return merged
}

const MAX_ROWS = 500
const DETAIL_LENGTH = 300

/** What ran, one line each with a bar on one time scale. Lines shorter than the threshold are folded below. */
export function renderWaterfall(context: TimedContext, threshold: number): Markup {
  const { profile } = context
  const scale = waterfallScale(profile)
  const rows = waterfallRows(profile, sliceTime(profile), threshold, scale)
  if (profile.spans.length === 0) {
    return renderEmptyState('Nothing was timed: the request failed before any hook ran.')
  }
  const long = rows.filter(row => !row.isShort)
  const short = rows.filter(row => row.isShort)
  return html`${renderTicks(scale)}
${renderRows('Waterfall', long, scale, context, renderHead(scale, profile))}
${short.length > 0 && html`<details class="fold"><summary>${foldedText(short, lengthOf(short.map(({ start, time }) => ({ start, end: start + time }))), threshold)}</summary>${renderRows('Folded', short, scale, context, null)}</details>`}`
}

function renderRows(
  caption: string,
  rows: readonly WaterfallRow[],
  scale: number,
  context: TimedContext,
  head: Markup | null,
): Markup {
  const left = rows.length - MAX_ROWS
  return html`<table class="lines waterfall"><caption class="sr-only">${caption}</caption>
${head}
<tbody>${rows.slice(0, MAX_ROWS).map(row => renderRow(row, scale, context))}
</tbody></table>${left > 0 && html`<p class="muted">${count(left, 'more row')} not shown.</p>`}`
}

function renderHead(scale: number, { duration }: Timed): Markup {
  return html`
<thead><tr><th scope="col">What ran</th><th scope="col" class="number">ms</th><th scope="col" class="number only-wide">Share</th><th scope="col">${renderAxis(scale, duration)}</th></tr></thead>`
}

/** The lines behind all bars of a page, drawn once. */
export function renderTicks(scale: number): Markup {
  return html`<svg width="0" height="0" class="sr-only" aria-hidden="true"><defs><g id="ticks">${axisTicks(scale).map(
    tick => html`<line class="tick" x1="${percent(tick, scale)}" x2="${percent(tick, scale)}" y1="0" y2="28"/>`,
  )}</g></defs></svg>`
}

export function renderAxis(scale: number, duration: number): Markup {
  const ticks = axisTicks(scale)
  const isCut = duration > scale
  return html`<svg class="axis" height="20" role="img" aria-label="0 to ${formatDuration(scale)}"><text x="0%" y="14">0</text>${ticks.map(tick => html`<text class="only-wide" x="${percent(tick, scale)}" y="14" text-anchor="middle">${tick.toLocaleString('en')}</text>`)}<text x="100%" y="14" text-anchor="end">${formatNumber(scale)}${isCut && ` of ${formatNumber(duration)}`} ms</text></svg>`
}

export function renderTrack(pieces: readonly BarPiece[], scale: number): Markup {
  return html`<svg class="track" height="28" aria-hidden="true"><use href="#ticks"/>${renderPieces(pieces, scale, 9, 10)}</svg>`
}

function renderRow(row: WaterfallRow, scale: number, context: TimedContext): Markup {
  const { kind, spans, depth, time, pieces } = row
  const [span] = spans
  return html`
<tr><th scope="row"><span class="line">${renderIndent(depth)}${renderKind(kind)}${span === undefined ? renderGap(row, scale, context.profile) : renderSpan(span, spans, context)}</span></th><td class="number">${formatMilliseconds(time)}</td><td class="number muted only-wide">${formatShare(time, context.profile.duration)}</td><td>${renderTrack(pieces, scale)}</td></tr>`
}

/** Time that no span accounts for. One that goes on beyond the scale says until when, since its bar cannot. */
function renderGap({ kind, start, time }: WaterfallRow, scale: number, { duration }: Timed): Markup {
  const end = start + time
  const reason = kind === 'blocked' ? 'code ran without a pause' : 'nothing recorded'
  const note = end > scale && duration > scale ? `until ${formatDuration(end)}, beyond the scale` : reason
  return html`<span class="cut">${kindView(kind).label.toLowerCase()}</span><span class="place muted cut">${note}</span>`
}

/** The name of an HTTP request has most of its detail, the URL, which is therefore only its title. */
function renderSpan(span: Span, all: readonly Span[], context: TimedContext): Markup {
  const times = timesOf(all) > 1 ? html`<b>${timesOf(all).toLocaleString('en')} ×</b> ` : null
  const detail = span.detail === null ? null : cut(span.detail, DETAIL_LENGTH)
  return html`<span class="cut"${detail !== null && html` title="${detail}"`}>${times}<span class="sr-only">${span.kind}: </span>${span.name} <span class="muted">${phaseOf(span)}</span>${detail !== null && span.kind !== 'http' && html` <code class="muted">${detail}</code>`}</span>${renderMarks(span, all, context.profile)}${renderOrigin(span, context)}`
}

function phaseOf({ hook, kind, routeLevel }: Span): string | null {
  if (hook !== null) return routeLevel ? `${hook} of the route` : hook
  return kind.endsWith('handler') ? kind.replaceAll('-', ' ') : null
}

function renderMarks(span: Span, all: readonly Span[], profile: Timed): Markup {
  const isMarked = timesOf(all) > 1 && isLoop(span, profile)
  const telling = all.find(({ outcome }) => outcome === 'threw' || outcome === 'unfinished') ?? span
  const isUsual = telling.outcome === 'continued' || (telling.outcome === 'replied' && span.hook === null)
  return html`${isMarked && renderBadge('N+1', 'warning')}${!isUsual && renderBadge(telling.outcome, outcomeTones[telling.outcome])}`
}

function renderOrigin({ location, plugin }: Span, context: TimedContext): Markup | null {
  if (location !== null) return renderLocation(location, context)
  return plugin === null ? null : html`<span class="place muted cut">${plugin}</span>`
}

const outcomeTones = { continued: 'neutral', replied: 'good', threw: 'error', unfinished: 'warning' } as const

export function outcomeBadge({ outcome }: Span): { badge: string; tone: Tone } {
  return { badge: outcome, tone: outcomeTones[outcome] }
}

/** Lines shorter than this many milliseconds are folded, in a request long enough to have longer ones. */
const usual = 1

/** A short request folds what is shorter than this part of it. */
const part = 1 / 20

/** The threshold of the waterfall: the one that the query asks for, or one that suits the request. */
export function foldThreshold(query: URLSearchParams | undefined, duration: number): number {
  const asked = query?.get('fold') ?? ''
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(asked)) return Number(asked)
  return Math.min(usual, Number((duration * part).toPrecision(1)))
}
