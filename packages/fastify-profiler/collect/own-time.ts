import type { Span } from '../base/profile.ts'
import { coveredTime } from './covered-time.ts'

/** The spans that were recorded in each span, by its id; those of no span are under null. */
export function childrenOf(spans: readonly Span[]): Map<number | null, number[]> {
  const children = new Map<number | null, number[]>()
  spans.forEach(({ parent }, id) => {
    // A parent is recorded before its children; anything else would be a cycle.
    const above = parent !== null && parent < id ? parent : null
    const siblings = children.get(above)
    if (siblings === undefined) children.set(above, [id])
    else siblings.push(id)
  })
  return children
}

/** The spans with these ids. */
export function spansAt(spans: readonly Span[], ids: readonly number[]): Span[] {
  return ids.map(id => spans[id]).filter(span => span !== undefined)
}

/** The time of a span without that of the spans in it, which may go on after it. */
export function ownTime({ start, duration }: Span, within: readonly Span[]): number {
  const end = start + duration
  const during = within.map(span => ({
    start: span.start,
    duration: Math.min(span.start + span.duration, end) - span.start,
  }))
  return Math.max(0, duration - coveredTime(during.filter(({ duration }) => duration > 0)))
}
