import type { Location } from '../base/profile.ts'
import type { TimeKind } from '../base/summary.ts'

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
