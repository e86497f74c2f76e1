import { groupBy } from './group-by.ts'
import type { BlockedTime, Span, SpanKind } from './profile.ts'

/** A part of a request, in milliseconds since its start. */
export interface Interval {
  start: number
  end: number
}

/** How long a request took, and when the event loop was blocked meanwhile. */
export interface RequestTime {
  duration: number
  blocked: readonly BlockedTime[]
  /** Whether the response was sent, so that nothing delayed it that ended later. */
  isSent?: boolean
}

/** Times differ by this much between clocks. */
const tolerance = 0.05

/** Milliseconds by which a call that was awaited may seem to end after the response. */
const inaccuracy = 1

export function isAfterResponse({ duration }: Pick<RequestTime, 'duration'>, time: number): boolean {
  return time > duration + inaccuracy
}

/**
 * A period without the times in which the event loop was blocked. These are left in for an operation that began and
 * ended in one of them: no answer can have come from outside, so that its own work has blocked the loop.
 * @param operation what the period is a part of
 */
export function unblocked(period: Interval, blocked: readonly BlockedTime[], operation = period): Interval[] {
  if (blocked.length === 0) return [period]
  let periods = [period]
  for (const { start, duration } of blocked) {
    const end = start + duration
    if (operation.start >= start - tolerance && operation.end <= end + tolerance) continue
    periods = periods.flatMap(part => [
      { start: part.start, end: Math.min(part.end, start) },
      { start: Math.max(part.start, end), end: part.end },
    ])
    periods = periods.filter(part => part.end > part.start)
  }
  return periods
}

/** Periods by their start. They usually are in order, and checking that is quicker than sorting. */
function inOrder(periods: readonly Interval[]): readonly Interval[] {
  let last = -Infinity
  for (const { start } of periods) {
    if (start < last) return periods.toSorted((one, other) => one.start - other.start)
    last = start
  }
  return periods
}

/** The moments in which at least one of the periods lasts, in order. */
export function joined(periods: readonly Interval[]): Interval[] {
  const result: Interval[] = []
  for (const { start, end } of inOrder(periods)) {
    const last = result.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else result.push({ start, end })
  }
  return result
}

/** A period without the moments of others. */
export function without({ start, end }: Interval, others: readonly Interval[]): Interval[] {
  const result: Interval[] = []
  let from = start
  for (const other of joined(others)) {
    if (other.start > from) result.push({ start: from, end: Math.min(other.start, end) })
    from = Math.max(from, other.end)
    if (from >= end) return result
  }
  return [...result, { start: from, end }]
}

/** The milliseconds that periods have of each block of the event loop. Adjacent blocks count as one. */
export function blocksIn(periods: readonly Interval[], blocked: readonly BlockedTime[]): number[] {
  if (periods.length === 0) return []
  const blocks = joined(blocked.map(({ start, duration }) => ({ start, end: start + duration + tolerance })))
  return [...groupBy(periods, ({ start }) => blocks.find(({ end }) => end > start)).values()].map(lengthOf)
}

/** The milliseconds that at least one of the periods contains. */
export function lengthOf(periods: readonly Interval[]): number {
  let total = 0
  let end = -Infinity
  for (const period of inOrder(periods)) {
    total += Math.max(0, period.end - Math.max(period.start, end))
    end = Math.max(end, period.end)
  }
  return total
}

/**
 * Charges a request for nothing of the operations that ended after its response, since it cannot have waited for them.
 * One that timed out has: its handler had not ended either.
 * @param all the spans of the request
 */
export function leaveOutLate(operations: readonly Span[], all: readonly Span[], time: RequestTime): void {
  if (time.isSent !== true) return
  for (const span of operations) {
    const { duration, outcome, parent, shared, start } = span
    if (outcome !== 'unfinished' && !isAfterResponse(time, start + duration)) continue
    if (shared === undefined && all[parent ?? -1]?.outcome !== 'unfinished') span.charged = 0
  }
}

/**
 * When an operation ran, as far as its request is charged for it, or for all of `took`: not while it waited for its
 * connection, nor while the event loop was blocked.
 */
export function runsOf(span: Span, blocked: readonly BlockedTime[], took = span.charged ?? span.duration): Interval[] {
  const { start, shared, wait } = span
  // Where operations that share a span ran is not known, only for how long.
  if (shared !== undefined) return [{ start, end: start + shared.time }]
  const end = start + took
  const sent = wait === undefined ? start : Math.max(start, wait.start + wait.duration)
  if (end < sent || wait?.inVain) return []
  return unblocked({ start: sent, end }, blocked, { start: Math.min(start, wait?.start ?? start), end })
}

/** When an operation waited for its connection, as far as its request is charged for it, or for all of `took`. */
export function waitsOf(span: Span, blocked: readonly BlockedTime[], took = span.charged ?? span.duration): Interval[] {
  const { start, kind, shared, wait } = span
  if (took === 0 && span.charged === 0) return []
  const end = start + took
  if (shared !== undefined) return [{ start: start + shared.time, end: start + shared.time + shared.waited }]
  if (kind === 'wait') return unblocked({ start, end }, blocked)
  if (wait === undefined) return []
  return unblocked({ start: wait.start, end: wait.start + wait.duration }, blocked, { start: wait.start, end })
}

/** When an operation took time: when it ran, or if it is only a wait for a connection, when it waited. */
export function activeTimes(span: Span, blocked: readonly BlockedTime[], took = span.charged ?? span.duration) {
  return (span.kind === 'wait' ? waitsOf : runsOf)(span, blocked, took)
}

/** The time of a request in which at least one operation of a kind ran. */
export function timeOf(kind: SpanKind, spans: readonly Span[], { blocked, duration }: RequestTime): number {
  const runs = spans.flatMap(span => (span.kind === kind ? runsOf(span, blocked) : []))
  return lengthOf(runs.map(({ start, end }) => ({ start, end: Math.min(end, duration) })))
}
