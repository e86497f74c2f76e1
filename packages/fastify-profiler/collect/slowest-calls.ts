import type { Profile, Span } from '../base/profile.ts'
import { timeByKind, timeKindOf, type TimeSlice } from './exclusive-time.ts'
import type { TimeKind } from '../base/summary.ts'
import { childrenOf, ownTime, spansAt } from './own-time.ts'
import { gatherCalls, isOperation } from './repeated-calls.ts'

/** Something that took time: an operation with its repetitions, a function's own code, or a gap. */
export interface SlowCall {
  kind: TimeKind
  /** Null for a gap. */
  span: Span | null
  /** How often the operation ran. */
  times: number
  /** Milliseconds, without those of the calls in it. */
  time: number
  /** Whether the function called others, so that this is only a part of it. */
  isPart: boolean
}

const gapKinds = new Set<TimeKind>(['reading', 'sending', 'waiting', 'unaccounted'])

/** What took a request's time, longest first. */
export function slowestCalls({ spans }: Pick<Profile, 'spans'>, slices: readonly TimeSlice[]): SlowCall[] {
  const children = childrenOf(spans)
  const functions = spans.flatMap((span, id): SlowCall[] => {
    if (isOperation(span)) return []
    const within = spansAt(spans, children.get(id) ?? [])
    return [{ kind: timeKindOf(span), span, times: 1, time: ownTime(span, within), isPart: within.length > 0 }]
  })
  const operations = gatherCalls(spans).map(({ first, ids, time }): SlowCall => ({
    kind: timeKindOf(first),
    span: first,
    times: ids.length,
    time,
    isPart: false,
  }))
  const gaps = timeByKind(slices)
    .filter(([kind]) => gapKinds.has(kind))
    .map(([kind, time]): SlowCall => ({ kind, span: null, times: 1, time, isPart: false }))
  return [...functions, ...operations, ...gaps].sort((one, other) => other.time - one.time)
}
