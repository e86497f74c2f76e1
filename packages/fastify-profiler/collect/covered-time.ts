import type { Span } from '../base/profile.ts'

/** The time during which at least one of the spans ran. */
export function coveredTime(spans: ReadonlyArray<Pick<Span, 'start' | 'duration'>>): number {
  let total = 0
  let end = -Infinity
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const from = Math.max(span.start, end)
    const until = span.start + span.duration
    if (until > from) total += until - from
    end = Math.max(end, until)
  }
  return total
}
