import type { HeaderLine, Location, Profile } from '../../core/profile.ts'
import type { ProfileSummary, TimeKind } from '../../core/summary.ts'

/** Two requests side by side, as plain data. Times are milliseconds. */
export interface Comparison {
  a: ComparedRequest
  b: ComparedRequest
  verdict: Verdict
  /** The time of each kind, as each millisecond counts once. */
  times: Array<[kind: TimeKind, a: number, b: number]>
  /** Functions, operations and gaps, most changed first. */
  spans: SpanPair[]
  statements: StatementPair[]
  /** Exceptions of only one of them, as "Class: message". */
  exceptions: Array<Pair<string>>
  /** Log lines that one of them has more often, by level and message without numbers. */
  logs: LogPair[]
  /** Headers and properties of the responses that differ. */
  values: ValuePair[]
  /** Headers that are equal. */
  equalHeaders: number
  /** Sentences about what could not be compared. */
  notes: string[]
}

export interface ComparedRequest {
  token: string
  method: string
  url: string
  /** The pattern of the matched route. */
  route: string | null
  status: number | null
  /** Milliseconds since 1970. */
  time: number
  duration: number
  queries: { count: number; duration: number }
  /** Bytes of the response's body; null if unknown. */
  size: number | null
}

/** What is missing in one of two requests is null. */
export interface Pair<Side> {
  a: Side | null
  b: Side | null
}

/** How B's time differs from A's. `noise`: it does not differ by more than chance explains. */
export interface Verdict {
  change: 'faster' | 'slower' | 'noise'
  /** Of B, without A's. */
  difference: number
  /** calls: one made calls that the other did not. others: other requests took as long. Null if it is noise. */
  because: 'calls' | 'others' | null
}

export interface SpanPair extends Pair<SpanTimes> {
  kind: TimeKind
  name: string
  /** Whether it is a function that called others, so that its times are only a part of it. */
  isPart: boolean
  location: Location | null
  /** calls: it ran more or less often. time: it took longer or shorter. Null if any difference is noise. */
  change: 'calls' | 'time' | null
}

/** Spans of one name and place in one request. */
export interface SpanTimes {
  count: number
  /** The time in which at least one of them ran, for functions without what they called. */
  time: number
  /** When that was. */
  pieces: Interval[]
}

export type Interval = readonly [start: number, end: number]

export interface StatementPair extends Pair<{ count: number; time: number }> {
  /** Without its values. */
  shape: string
  location: Location | null
}

export interface LogPair {
  level: number
  message: string
  a: number
  b: number
}

export interface ValuePair extends Pair<string> {
  name: string
  of: 'request' | 'response'
}

/** B's time without A's, where a missing side counts as 0. */
export function differenceOf({ a, b }: Pair<{ time: number }>): number {
  return (b?.time ?? 0) - (a?.time ?? 0)
}

/** Headers that differ between any two responses. */
const ofEveryResponse = new Set(['date', 'server-timing', 'x-debug-token', 'x-debug-token-link'])

/** Compares the headers of requests and responses by name. */
export function compareValues(a: Profile, b: Profile): Pick<Comparison, 'values' | 'equalHeaders'> {
  const pairs = [
    ...pairHeaders('request', a.request.headers, b.request.headers),
    ...pairHeaders('response', a.response.headers, b.response.headers),
  ]
  const values = pairs.filter(({ a, b }) => a !== b)
  return { values, equalHeaders: pairs.length - values.length }
}

function pairHeaders(of: ValuePair['of'], a: readonly HeaderLine[], b: readonly HeaderLine[]): ValuePair[] {
  const valuesA = valuesOf(a)
  const valuesB = valuesOf(b)
  return [...new Set([...valuesA.keys(), ...valuesB.keys()])].map(name => ({
    name,
    of,
    a: valuesA.get(name) ?? null,
    b: valuesB.get(name) ?? null,
  }))
}

/** The values of each header, those of one name joined. */
function valuesOf(headers: readonly HeaderLine[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const [header, value] of headers) {
    const name = header.toLowerCase()
    if (ofEveryResponse.has(name)) continue
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return values
}

/** Smaller differences are noise, in milliseconds and as a part of the longer time. */
const leastDifference = 0.3
const leastPart = 0.05

/** So many other requests tell what is usual. */
export const othersNeeded = 8

/** A change in calls explains a difference if it makes up this part of it. */
const explainedFrom = 0.5

/** A span took part in a difference if it makes up this part of it. */
const takingPartFrom = 0.1

/** Requests that did the same as the earlier of two before it, and the same as the later one after it. */
export interface Others {
  before: readonly ProfileSummary[]
  after: readonly ProfileSummary[]
}

/** Whether two times differ by more than a clock, a processor cache or a scheduler explains. */
export function isNotable(one: number, other: number): boolean {
  return Math.abs(one - other) > Math.max(leastDifference, leastPart * Math.max(one, other))
}

/**
 * Judges whether B took longer or shorter than A. How noise is judged:
 *
 * - A difference under 0.3 ms or under 5 % of the longer time is noise.
 * - If one request made calls that the other did not, and these make up at least half of the difference, it is real.
 * - Otherwise chance may explain it, which only ever adds time: a garbage collection, a cold cache, a busy machine. So
 *   the quicker one must be quicker than each of at least eight requests like the slower one, the slower one among
 *   them, by more than these differ from each other (their median less their least).
 *
 * So two equal requests get no verdict, however far apart their times are.
 */
export function judge(a: ComparedRequest, b: ComparedRequest, spans: readonly SpanPair[], others: Others): Verdict {
  const difference = b.duration - a.duration
  const noise: Verdict = { change: 'noise', difference, because: null }
  if (!isNotable(a.duration, b.duration)) return noise
  const change = difference < 0 ? 'faster' : 'slower'
  const ofCalls = spans.filter(pair => pair.change === 'calls').reduce((sum, pair) => sum + differenceOf(pair), 0)
  if (ofCalls / difference >= explainedFrom) return { change, difference, because: 'calls' }
  const [quicker, slower] = difference < 0 ? [b, a] : [a, b]
  const peers = slower.time <= quicker.time ? others.before : others.after
  const isQuicker = quicker.duration < usualLeast([slower.duration, ...peers.map(({ duration }) => duration)])
  return isQuicker ? { change, difference, because: 'others' } : noise
}

/** The time that chance alone does not go below; 0 if too few times tell. */
function usualLeast(times: readonly number[]): number {
  if (times.length < othersNeeded) return 0
  const sorted = times.toSorted((one, other) => one - other)
  const [least = 0] = sorted
  const spread = (sorted[Math.floor(sorted.length / 2)] ?? least) - least
  return least - Math.max(spread, leastDifference, leastPart * least)
}

/** Marks the spans that took part in a difference of the whole request. */
export function markChanges(spans: readonly SpanPair[], { change, difference }: Verdict): SpanPair[] {
  if (change === 'noise') return [...spans]
  return spans.map(pair => {
    const takesPart = differenceOf(pair) / difference >= takingPartFrom
    const isLonger = isNotable(pair.a?.time ?? 0, pair.b?.time ?? 0)
    return pair.change === null && takesPart && isLonger ? { ...pair, change: 'time' } : pair
  })
}

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
