import type { TimeKind } from '../../core/summary.ts'
import type { Block } from '../../core/view/block.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { formatDuration, formatNumber } from '../../core/view/units.ts'
import { kindView, renderKind } from '../performance/exclusive-time.ts'
import { stackedPieces } from '../performance/performance-panel.ts'
import { type BarPiece, renderPieces } from '../performance/waterfall.ts'
import type { PairedTimes, SpanPair } from './comparison.ts'

/** The letter of one side. */
export function renderSide(side: 'A' | 'B'): Markup {
  return html`<span class="badge neutral${side === 'B' && ' solid'}">${side}</span>`
}

/** Two bars on one scale, A above B, with a legend that has the numbers of both. */
export function pairedStacks(times: PairedTimes, totalA: number, totalB: number): Block {
  const scale = Math.max(totalA, totalB)
  const legend = times.map(([kind, a, b]) => ({ kind, label: kindView(kind).label, a: timeText(a), b: timeText(b) }))
  const stackA = renderStack(
    'A',
    totalA,
    times.map(([kind, a]) => [kind, a]),
    scale,
  )
  const stackB = renderStack(
    'B',
    totalB,
    times.map(([kind, , b]) => [kind, b]),
    scale,
  )
  return {
    html: html`${stackA}
${stackB}
<ul class="legend row">${legend.map(
      ({ kind, label, a, b }) => html`
<li>${renderKind(kind)}${label} <span class="muted">${a} →</span> <b>${b}</b></li>`,
    )}
</ul>`,
    markdown: legend.map(({ label, a, b }) => `- ${label}: ${a} → ${b}`).join('\n'),
  }
}

type Times = ReadonlyArray<readonly [kind: TimeKind, time: number]>

function renderStack(side: 'A' | 'B', total: number, times: Times, scale: number): Markup {
  const some = times.filter(([, time]) => time > 0)
  const words = some.map(([kind, time]) => `${kindView(kind).label} ${formatDuration(time)}`).join(', ')
  return html`<div class="side-bar">${renderSide(side)}<svg class="stack" width="100%" height="24" role="img" aria-label="${side}: ${words}">${renderPieces(stackedPieces(some), scale, 0, 24)}</svg><span class="number">${formatDuration(total)}</span></div>`
}

function timeText(time: number): string {
  return time > 0 ? formatNumber(time) : 'none'
}

/** When something ran: in A above and pale, in B below and full. */
export function renderPairBar({ a, b, kind }: SpanPair, scale: number): Markup {
  const { colour } = kindView(kind)
  return html`<svg class="pair-bar" height="24" aria-hidden="true"><g class="a">${renderPieces(drawn(a, colour, scale), scale, 4, 7)}</g>${renderPieces(drawn(b, colour, scale), scale, 13, 7)}</svg>`
}

/** The gap between pieces, as a part of the scale. Four gaps are the least width of a piece. */
const resolution = 1 / 500

/** The pieces of one side, with a gap between them so that repetitions can be counted. */
function drawn(times: SpanPair['a'], colour: string, scale: number): BarPiece[] {
  const gap = scale * resolution
  const pieces: BarPiece[] = []
  for (const { start, end } of times?.pieces ?? []) {
    const last = pieces.at(-1)
    if (last !== undefined && end - last.start < gap * 4) last.end = end
    else {
      if (last !== undefined) last.end = Math.min(last.end, start - gap)
      pieces.push({ colour, start, end })
    }
  }
  return pieces
}
