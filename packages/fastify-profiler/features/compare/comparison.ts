import type { Interval } from '../../core/intervals.ts'
import type { HeaderLine, Location, Profile } from '../../core/profile.ts'
import type { ProfileSummary, TimeKind } from '../../core/summary.ts'
import { changeOf, isNotable, judgeTimes, type Verdict } from './verdict.ts'

/** Two requests side by side, as plain data. Times are milliseconds. */
export interface Comparison {
  a: ComparedRequest
  b: ComparedRequest
  verdict: Verdict
  /** The time of each kind, as each millisecond counts once. */
  times: PairedTimes
  /** Functions, operations and gaps, most changed first. */
  spans: SpanPair[]
  statements: StatementPair[]
  /** Exceptions of only one of them, as "Class: message". */
  exceptions: Array<Pair<string>>
  /** Log lines that one of them has more often, by level and message without numbers. */
  logs: LogPair[]
  /** Headers and properties of the responses that differ. */
  values: ValuePair[]
  equalHeaders: number
  /** Sentences about what could not be compared. */
  notes: string[]
}

export type ComparedRequest = Pick<
  ProfileSummary,
  'token' | 'method' | 'url' | 'route' | 'status' | 'time' | 'duration' | 'queries' | 'size'
>

/** What is missing in one of two requests is null. */
export interface Pair<Side> {
  a: Side | null
  b: Side | null
}

export interface SpanPair extends Pair<SpanTimes> {
  kind: TimeKind
  name: string
  /** Whether it is a function that called others, so that its times are only a part of it. */
  isPart: boolean
  location: Location | null
  /** calls: it ran more or less often. time: it took longer or shorter. Null if neither. */
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

export type PairedTimes = Array<[kind: TimeKind, a: number, b: number]>

type Times = Iterable<readonly [kind: TimeKind, time: number]>

export function pairTimes(a: Times, b: Times): PairedTimes {
  const [timesA, timesB] = [new Map(a), new Map(b)]
  const kinds = new Set([...timesA.keys(), ...timesB.keys()])
  return [...kinds].map(kind => [kind, timesA.get(kind) ?? 0, timesB.get(kind) ?? 0])
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

/** A change in calls explains a difference if it makes up this part of it. */
const explainedFrom = 0.5

/** A span took part in a difference if it makes up this part of it. */
const takingPartFrom = 0.1

/** The requests of each side that did the same as the one that is compared, without itself. */
export interface Others {
  a: readonly ProfileSummary[]
  b: readonly ProfileSummary[]
}

/** Judges whether B took longer or shorter than A. Calls that explain half of the difference make it certain. */
export function judge(a: ComparedRequest, b: ComparedRequest, spans: readonly SpanPair[], others: Others): Verdict {
  const sides = [
    [a.duration, ...others.a.map(({ duration }) => duration)],
    [b.duration, ...others.b.map(({ duration }) => duration)],
  ] as const
  const verdict = judgeTimes(...sides)
  const difference = b.duration - a.duration
  if (verdict.sureness === 'certain' || !isNotable(a.duration, b.duration)) return verdict
  const ofCalls = spans.filter(pair => pair.change === 'calls').reduce((sum, pair) => sum + differenceOf(pair), 0)
  if (ofCalls / difference < explainedFrom) return verdict
  return { ...verdict, sureness: 'certain', change: changeOf(difference), difference, because: 'calls' }
}

/** Marks the spans that took part in a difference of the whole request. */
export function markChanges(spans: readonly SpanPair[], { change, difference }: Verdict): SpanPair[] {
  if (change === 'none') return [...spans]
  return spans.map(pair => {
    const takesPart = differenceOf(pair) / difference >= takingPartFrom
    const isLonger = isNotable(pair.a?.time ?? 0, pair.b?.time ?? 0)
    return pair.change === null && takesPart && isLonger ? { ...pair, change: 'time' } : pair
  })
}
