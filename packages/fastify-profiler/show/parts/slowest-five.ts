import type { SlowCall } from '../../collect/slowest-calls.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'
import { kindView, renderKind } from './span-kind.ts'
import type { TimedContext } from './timed-context.ts'
import { formatMilliseconds, formatShare } from './units.ts'

/** The five things that took longest, each with its place, time and share of the whole: "the request". */
export function renderSlowestFive(calls: readonly SlowCall[], context: TimedContext, whole = 'the request'): Markup {
  const { duration } = context.profile
  const five = calls.slice(0, 5)
  const together = five.reduce((sum, { time }) => sum + time, 0)
  // Rounded times may add up to a little more.
  const share = together < duration * 1.001 ? `; ${formatShare(together, duration)} of ${whole} together` : ''
  return html`<section aria-labelledby="slowest"><h2 id="slowest">Slowest five <small>ms and share${share}</small></h2>
<table class="lines slowest"><caption class="sr-only">Slowest five</caption><colgroup><col><col class="where only-wide"><col class="ms"><col class="share"></colgroup>
<tbody>${five.map(
    call => html`
<tr><th scope="row">${renderKind(call.kind)} ${callName(call)}</th><td class="number only-wide">${call.span?.location != null && renderLocation(call.span.location, context)}</td><td class="number">${formatMilliseconds(call.time)}</td><td class="number muted">${formatShare(call.time, duration)}</td></tr>`,
  )}
</tbody></table></section>`
}

/** 20 × select products; loadSession, its own code; sending. */
export function callName({ isPart, kind, span, times }: SlowCall): string {
  if (span === null) return kindView(kind).label.toLowerCase()
  return `${times > 1 ? `${times} × ` : ''}${span.name}${isPart ? ', its own code' : ''}`
}
