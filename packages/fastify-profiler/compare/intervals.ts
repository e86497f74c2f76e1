import type { Interval } from './comparison.ts'

/** The moments in which at least one of the intervals lasts, in order. */
export function joined(intervals: readonly Interval[]): Interval[] {
  const result: Array<[number, number]> = []
  for (const [start, end] of [...intervals].sort(([one], [other]) => one - other)) {
    const last = result.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else result.push([start, end])
  }
  return result
}

/** An interval without the moments of others. */
export function without([start, end]: Interval, others: readonly Interval[]): Interval[] {
  const result: Interval[] = []
  let from = start
  for (const [otherStart, otherEnd] of joined(others)) {
    if (otherStart > from) result.push([from, Math.min(otherStart, end)])
    from = Math.max(from, otherEnd)
    if (from >= end) return result
  }
  return [...result, [from, end]]
}

/** The length of intervals that do not overlap. */
export function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [start, end]) => sum + end - start, 0)
}
