import type { TimeKind } from '../../base/summary.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderPieces, type BarPiece } from './bar.ts'
import { kindView, renderKind } from './span-kind.ts'
import { formatDuration, formatNumber, formatShare } from './units.ts'

type Times = ReadonlyArray<readonly [kind: TimeKind, time: number]>

/** Smaller shares are not written beside their number. */
const smallestShare = 0.1

/** One bar for the whole request, divided by kind, with a legend that has the numbers. */
export function renderTimeBar(times: Times, total: number): Markup {
  const words = times.map(([kind, time]) => `${kindView(kind).label} ${formatDuration(time)}`).join(', ')
  return html`<svg class="stack" role="img" aria-label="${words}">${renderPieces(stackedPieces(times), total, 0, 24)}</svg>
<ul class="legend">${times.map(
    ([kind, time]) => html`
<li>${renderKind(kind)}${kindView(kind).label} <b>${formatNumber(time)}</b>${time >= total * smallestShare && html` <span class="muted">${formatShare(time, total)}</span>`}</li>`,
  )}
</ul>`
}

/** The times as pieces one after another. */
export function stackedPieces(times: Times): BarPiece[] {
  let end = 0
  return times.map(([kind, time]) => {
    const start = end
    end += time
    return { colour: kindView(kind).colour, start, end }
  })
}
