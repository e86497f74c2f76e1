import type { Location, Profile, Span } from '../base/profile.ts'
import type { TimeKind } from '../base/summary.ts'
import { timeKindOf, type TimeSlice } from '../collect/exclusive-time.ts'
import { childrenOf, spansAt } from '../collect/own-time.ts'
import { isOperation } from '../collect/repeated-calls.ts'
import type { Interval, SpanTimes } from './comparison.ts'
import { joined, lengthOf, without } from './intervals.ts'

/** The spans of one request with one kind, name and place. */
export interface SpanGroup extends SpanTimes {
  kind: TimeKind
  name: string
  location: Location | null
  isPart: boolean
}

const gaps = new Set<TimeKind>(['reading', 'sending', 'waiting', 'unaccounted'])

/** Whether a kind stands for time in which no recorded function or operation ran. */
export function isGap(kind: TimeKind): boolean {
  return gaps.has(kind)
}

/** Gathers the spans of a request by kind, name and line, and its gaps by kind. */
export function groupSpans({ spans }: Pick<Profile, 'spans'>, slices: readonly TimeSlice[]): SpanGroup[] {
  const children = childrenOf(spans)
  const groups = new Map<string, SpanGroup & { own: Interval[] }>()
  spans.forEach((span, id) => {
    const { kind, location, name } = span
    const key = JSON.stringify([kind, name, location?.file, location?.line])
    const within = isOperation(span) ? [] : spansAt(spans, children.get(id) ?? [])
    const known = groups.get(key)
    const group = known ?? {
      kind: timeKindOf(span),
      name,
      location,
      isPart: false,
      count: 0,
      time: 0,
      pieces: [],
      own: [],
    }
    if (known === undefined) groups.set(key, group)
    group.count++
    group.isPart ||= within.length > 0
    group.own.push(...without(intervalOf(span), within.map(intervalOf)))
  })
  return [
    ...[...groups.values()].map(({ own, ...group }) => timed(group, joined(own))),
    ...[...gaps].flatMap(kind => gapGroup(kind, slices)),
  ]
}

function gapGroup(kind: TimeKind, slices: readonly TimeSlice[]): SpanGroup[] {
  const pieces = slices.filter(slice => slice.kind === kind).map(({ start, end }): Interval => [start, end])
  if (pieces.length === 0) return []
  return [timed({ kind, name: kind, location: null, isPart: false, count: 1, time: 0, pieces }, pieces)]
}

function timed(group: SpanGroup, pieces: Interval[]): SpanGroup {
  return { ...group, pieces, time: lengthOf(pieces) }
}

function intervalOf({ start, duration }: Span): Interval {
  return [start, start + duration]
}
