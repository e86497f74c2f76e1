import type { ProfileSummary, TimeKind } from '../base/summary.ts'
import type { Verdict } from './comparison.ts'
import { isNotable, othersNeeded } from './noise.ts'

/** The requests of one route before a moment and since. Times are milliseconds. */
export interface SetComparison {
  method: string
  route: string
  /** Milliseconds since 1970. */
  at: number
  before: RequestSet
  since: RequestSet
  verdict: Pick<Verdict, 'change' | 'difference'>
}

/** What a number of requests have in common. Those that failed or were not answered only count as such. */
export interface RequestSet {
  count: number
  failed: number
  duration: Spread
  queries: Spread
  queryTime: Spread
  /** Bytes of the response's body. */
  size: Spread
  /** The median time of each kind. */
  times: Array<[kind: TimeKind, time: number]>
  /** The duration of each request, newest first. */
  durations: number[]
}

/** Quantiles by nearest rank; all 0 without values. */
export interface Spread {
  least: number
  quarter: number
  median: number
  threeQuarters: number
  most: number
}

/**
 * Compares the requests of a route before a moment with those since. How noise is judged: the medians must differ by
 * 0.3 ms and by 5 %, and the middle halves of both sets must not overlap, with at least eight requests in each.
 */
export function compareSets(
  { method, route, at }: Pick<SetComparison, 'method' | 'route' | 'at'>,
  requests: readonly ProfileSummary[],
): SetComparison {
  const before = describeSet(requests.filter(({ time }) => time < at))
  const since = describeSet(requests.filter(({ time }) => time >= at))
  return { method, route, at, before, since, verdict: judgeSets(before, since) }
}

function judgeSets(before: RequestSet, since: RequestSet): SetComparison['verdict'] {
  const { duration: a } = before
  const { duration: b } = since
  const difference = b.median - a.median
  const areMany = before.durations.length >= othersNeeded && since.durations.length >= othersNeeded
  const isApart = a.quarter > b.threeQuarters || b.quarter > a.threeQuarters
  if (!areMany || !isApart || !isNotable(a.median, b.median)) return { change: 'noise', difference }
  return { change: difference < 0 ? 'faster' : 'slower', difference }
}

function describeSet(requests: readonly ProfileSummary[]): RequestSet {
  const answered = requests.filter(({ outcome, status }) => outcome === 'completed' && status !== null && status < 500)
  const spread = (valueOf: (request: ProfileSummary) => number) => spreadOf(answered.map(valueOf))
  const kinds = new Set(answered.flatMap(({ times }) => times.map(([kind]) => kind)))
  return {
    count: requests.length,
    failed: requests.length - answered.length,
    duration: spread(({ duration }) => duration),
    queries: spread(({ queries }) => queries.count),
    queryTime: spread(({ queries }) => queries.duration),
    size: spread(({ size }) => size ?? 0),
    times: [...kinds].map(kind => [kind, spread(({ times }) => timeOf(times, kind)).median]),
    durations: answered.map(({ duration }) => duration),
  }
}

function timeOf(times: ProfileSummary['times'], wanted: TimeKind): number {
  return times.find(([kind]) => kind === wanted)?.[1] ?? 0
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (part: number) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
  return { least: at(0), quarter: at(0.25), median: at(0.5), threeQuarters: at(0.75), most: at(1) }
}
