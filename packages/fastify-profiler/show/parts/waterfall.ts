import { sliceTime, type Timed } from '../../collect/exclusive-time.ts'
import { coveredTime } from '../../collect/covered-time.ts'
import { repetitionsFrom } from '../../collect/findings.ts'
import type { Span } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { percent, renderPieces } from './bar.ts'
import { renderEmptyState } from './empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { foldedText } from './folded-rows.ts'
import { renderLocation } from './location.ts'
import { kindView, renderKind } from './span-kind.ts'
import type { TimedContext } from './timed-context.ts'
import { axisTicks, waterfallScale } from './waterfall-scale.ts'
import { waterfallRows, type WaterfallRow } from './waterfall-rows.ts'
import { count, formatDuration, formatMilliseconds, formatNumber, formatShare } from './units.ts'

const MAX_ROWS = 500
const MAX_DEPTH = 6
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
  return html`<svg width="0" height="0" class="sr-only" aria-hidden="true"><defs><g id="ticks">${axisTicks(scale).map(
    tick => html`<line class="tick" x1="${percent(tick, scale)}" x2="${percent(tick, scale)}" y1="0" y2="28"/>`,
  )}</g></defs></svg>
${renderRows('Waterfall', long, scale, context, renderHead(scale, profile))}
${short.length > 0 && html`<details class="fold"><summary>${foldedText(short, coveredTime(short.map(({ start, time }) => ({ start, duration: time }))), threshold)}</summary>${renderRows('Folded', short, scale, context, null)}</details>`}`
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
<colgroup><col class="what"><col class="ms"><col class="share only-wide"><col></colgroup>${head}
<tbody>${rows.slice(0, MAX_ROWS).map(row => renderRow(row, scale, context))}
</tbody></table>${left > 0 && html`<p class="muted">${count(left, 'more row')} not shown.</p>`}`
}

function renderHead(scale: number, { duration }: Timed): Markup {
  const ticks = axisTicks(scale)
  const isCut = duration > scale
  return html`
<thead><tr><th scope="col">What ran</th><th scope="col" class="number">ms</th><th scope="col" class="number only-wide">Share</th><th scope="col"><svg class="axis" role="img" aria-label="0 to ${formatDuration(scale)}"><text x="0%" y="14">0</text>${ticks.map(tick => html`<text class="only-wide" x="${percent(tick, scale)}" y="14" text-anchor="middle">${tick.toLocaleString('en')}</text>`)}<text x="100%" y="14" text-anchor="end">${formatNumber(scale)}${isCut && ` of ${formatNumber(duration)}`} ms</text></svg></th></tr></thead>`
}

function renderRow(row: WaterfallRow, scale: number, context: TimedContext): Markup {
  const { kind, spans, depth, time, pieces } = row
  const [span] = spans
  return html`
<tr><th scope="row"><span class="line depth-${Math.min(depth, MAX_DEPTH)}">${renderKind(kind)}${span === undefined ? renderGap(row, scale, context.profile) : renderSpan(span, spans, context)}</span></th><td class="number">${formatMilliseconds(time)}</td><td class="number muted only-wide">${formatShare(time, context.profile.duration)}</td><td><svg class="track" aria-hidden="true"><use href="#ticks"/>${renderPieces(pieces, scale, 9, 10)}</svg></td></tr>`
}

/** Time that no span accounts for. One that goes on beyond the scale says until when, since its bar cannot. */
function renderGap({ kind, start, time }: WaterfallRow, scale: number, { duration }: Timed): Markup {
  const end = start + time
  const note = end > scale && duration > scale ? `until ${formatDuration(end)}, beyond the scale` : 'nothing recorded'
  return html`<span class="what">${kindView(kind).label.toLowerCase()}</span><span class="place muted">${note}</span>`
}

/** The name of an HTTP request has most of its detail, the URL, which is therefore only its title. */
function renderSpan(span: Span, all: readonly Span[], context: TimedContext): Markup {
  const times = all.length > 1 ? html`<b>${all.length} ×</b> ` : null
  const detail = span.detail === null ? null : shortened(span.detail)
  return html`<span class="what"${detail !== null && html` title="${detail}"`}>${times}<span class="sr-only">${span.kind}: </span>${span.name} <span class="muted">${phaseOf(span)}</span>${detail !== null && span.kind !== 'http' && html` <code class="muted">${detail}</code>`}</span>${renderMarks(span, all)}${renderOrigin(span, context)}`
}

function shortened(text: string): string {
  return text.length > DETAIL_LENGTH ? `${text.slice(0, DETAIL_LENGTH)}…` : text
}

function phaseOf({ hook, kind, routeLevel }: Span): string | null {
  if (hook !== null) return routeLevel ? `${hook} of the route` : hook
  return kind.endsWith('handler') ? kind.replaceAll('-', ' ') : null
}

function renderMarks(span: Span, all: readonly Span[]): Markup {
  const isLoop = span.kind === 'query' && all.length >= repetitionsFrom
  const telling = all.find(({ outcome }) => outcome === 'threw' || outcome === 'unfinished') ?? span
  const isUsual = telling.outcome === 'continued' || (telling.outcome === 'replied' && span.hook === null)
  return html`${isLoop && renderBadge('N+1', 'warning')}${!isUsual && renderSpanOutcome(telling)}`
}

function renderOrigin({ location, plugin }: Span, context: TimedContext): Markup | null {
  if (location !== null) return renderLocation(location, context)
  return plugin === null ? null : html`<span class="place muted">${plugin}</span>`
}

/** The badge of a span's outcome. */
export function renderSpanOutcome({ outcome }: Span): Markup {
  if (outcome === 'threw') return renderBadge(outcome, 'error')
  if (outcome === 'unfinished') return renderBadge(outcome, 'warning')
  return renderBadge(outcome, outcome === 'replied' ? 'good' : 'neutral')
}
