import { quantile } from '../home/overview.ts'

// Whether requests of one side take longer than those of another. Times are milliseconds.

/**
 * How sure a verdict is. certain: enough requests on both sides show it, or calls that only one of them made explain
 * it. seen: it was so, and too few requests tell whether it is always so. equal: enough requests on both sides differ
 * by no more than each other.
 */
type Sureness = 'certain' | 'seen' | 'equal'

/** How B's time differs from A's. */
export interface Verdict {
  sureness: Sureness
  /** none: they take as long. */
  change: 'faster' | 'slower' | 'none'
  /** Of B, without A's: of the medians if enough requests tell, else of the two themselves. */
  difference: number
  /** What makes it certain. calls: one made calls that the other did not. times: other requests. Null if it is not. */
  because: 'calls' | 'times' | null
  /** The requests that tell, on the side of each. */
  requests: { a: number; b: number }
}

/** Fewer requests on a side are not enough. */
export const enough = 5

/** The requests of a side that are judged. More take long to rank, and tell little more. */
const most = 40

/** Smaller differences are none, in milliseconds and as a part of the longer time. */
const leastDifference = 1
const leastPart = 0.05

/** Standard deviations from which on chance does not explain an order: it comes so once in a hundred times. */
const certain = 2.576

/** Up to here chance may explain it, but need not: it comes so once in ten times. */
const doubtful = 1.645

/** Where the middle half of a side is a larger part of its median, a difference may hide in it. */
const steadyPart = 0.2

/** Whether two times differ by more than a clock, a processor cache or a scheduler explains. */
export function isNotable(one: number, other: number): boolean {
  return Math.abs(one - other) >= Math.max(leastDifference, leastPart * Math.max(one, other))
}

/**
 * Judges whether the requests of B's side take longer or shorter than those of A's, by a rank test (Mann and Whitney,
 * two-sided): it asks how unusual such an order of all times is if both sides are alike, and does not mind outliers. As
 * a busy machine makes times drift, the medians must also be further apart than the middle half of a side.
 * @param a the durations of A's side, A's own first, then the nearest in time; `b` likewise
 */
export function judgeTimes(a: readonly number[], b: readonly number[]): Verdict {
  const requests = { a: a.length, b: b.length }
  if (Math.max(a.length, b.length) > most) return judgeTimes(a.slice(0, most), b.slice(0, most))
  if (a.length < enough || b.length < enough) return { ...seen(a[0] ?? 0, b[0] ?? 0), requests }
  const [middleA, middleB] = [middleOf(a), middleOf(b)]
  const difference = middleB.median - middleA.median
  const spread = (middleA.spread + middleB.spread) / 2
  const deviation = deviationOf(a, b)
  const isWithin = Math.abs(difference) <= spread
  const isSame = !isNotable(middleA.median, middleB.median) || (isWithin && deviation < doubtful)
  const isSteady = spread <= Math.max(leastDifference, steadyPart * Math.max(middleA.median, middleB.median))
  if (isSame && isSteady) {
    return { sureness: 'equal', change: 'none', difference, because: null, requests }
  }
  if (isSame || isWithin || deviation < certain) return { ...seen(middleA.median, middleB.median), requests }
  return { sureness: 'certain', change: changeOf(difference), difference, because: 'times', requests }
}

function seen(a: number, b: number): Omit<Verdict, 'requests'> {
  const difference = b - a
  return { sureness: 'seen', change: isNotable(a, b) ? changeOf(difference) : 'none', difference, because: null }
}

export function changeOf(difference: number): 'faster' | 'slower' {
  return difference < 0 ? 'faster' : 'slower'
}

/** The median of times, and how far their middle half lies apart. */
function middleOf(times: readonly number[]): { median: number; spread: number } {
  const sorted = Float64Array.from(times).sort()
  return { median: quantile(sorted, 0.5), spread: quantile(sorted, 0.75) - quantile(sorted, 0.25) }
}

/** How far an order of all times is from the usual one of two sides that are alike, in standard deviations. */
function deviationOf(a: readonly number[], b: readonly number[]): number {
  let wins = 0
  for (const one of a) for (const other of b) wins += one > other ? 1 : one === other ? 0.5 : 0
  const pairs = a.length * b.length
  return Math.abs(wins - pairs / 2) / Math.sqrt((pairs * (a.length + b.length + 1)) / 12)
}
