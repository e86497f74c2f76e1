import { html, type Markup } from '../../base/html.ts'
import type { TimeKind } from '../../base/summary.ts'
import type { SpanPair } from '../../compare/comparison.ts'
import { percent, renderPieces, type BarPiece } from './bar.ts'
import { kindView, renderKind } from './span-kind.ts'
import { stackedPieces } from './time-bar.ts'
import { axisTicks } from './waterfall-scale.ts'
import { formatDuration, formatNumber } from './units.ts'

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
export function renderPairAxis(scale: number): Markup {
  return html`<svg class="axis" role="img" aria-label="0 to ${formatDuration(scale)}"><text x="0%" y="14">0</text>${axisTicks(scale).map(tick => html`<text x="${percent(tick, scale)}" y="14" text-anchor="middle">${tick}</text>`)}<text x="100%" y="14" text-anchor="end">${formatNumber(scale)} ms</text></svg>`
}

/** When something ran: in A above and pale, in B below and full. */
export function renderPairBar({ a, b, kind }: SpanPair, scale: number): Markup {
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
