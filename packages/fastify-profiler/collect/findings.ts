import type { Location, Profile, Repetition } from '../base/profile.ts'
import { factsOf } from '../base/statement.ts'
import { timeByKind, type TimeSlice } from './exclusive-time.ts'
import type { TimeKind } from '../base/summary.ts'
import { awaitsInARow, type AwaitsInARow } from './awaits-in-a-row.ts'
import { gatherCalls } from './repeated-calls.ts'
import { slowestCalls, type SlowCall } from './slowest-calls.ts'

/**
 * What is worth changing in a request. repeated: a query ran again and again. row: calls awaited one after another
 * could overlap. slow: a call took much of the request. waited: queries waited for a connection. unaccounted: most of
 * the time belongs to nobody.
 */
export type Finding = { time: number; location: Location | null } & (
  | { what: 'repeated'; kind: Repetition['kind']; count: number }
  | { what: 'row'; count: number; saved: number }
  | { what: 'slow'; call: SlowCall }
  | { what: 'waited' }
  | { what: 'unaccounted' }
)

/** A line that sends one query this often repeats it. */
export const repetitionsFrom = 5

/** A call is slow from this many milliseconds on, if it takes this part of its request. */
const slowFrom = 10
const slowShare = 0.15
const waitedFrom = 1
const findingsShown = 5

/** The findings of a request, most time first. */
export function findingsOf(profile: Profile, slices: readonly TimeSlice[]): Finding[] {
  const times = new Map(timeByKind(slices))
  return [...repeatedQueries(profile), ...rowsOf(profile), ...slowCalls(profile, slices), ...lostTime(profile, times)]
    .sort((one, other) => other.time - one.time)
    .slice(0, findingsShown)
}

/** The findings that a line of code is to blame for, most time first: queries in a loop, and awaits in a row. */
export function wastefulCalls(profile: Profile): Finding[] {
  const loops = (profile.database?.repetitions ?? []).filter(({ kind }) => kind === 'loop').map(findingOf)
  return [...loops, ...rowsOf(profile)].sort((one, other) => other.time - one.time)
}

/** The repetitions that the drivers have told of, or else those on the timeline. */
function repeatedQueries({ database, spans }: Profile): Finding[] {
  const told = database?.repetitions ?? []
  if (told.length > 0) return told.map(findingOf)
  return gatherCalls(spans)
    .filter(
      ({ first, ids }) =>
        first.kind === 'query' && ids.length >= repetitionsFrom && !factsOf(first.detail ?? '').isAllowed,
    )
    .map(({ first, ids, time }) => ({
      what: 'repeated',
      kind: 'loop',
      count: ids.length,
      time,
      location: first.location,
    }))
}

function findingOf({ kind, count, duration, locations }: Repetition): Finding {
  return { what: 'repeated', kind, count, time: duration, location: locations[0] ?? null }
}

/** The rows of calls that could overlap, but for loops, which one query could replace. */
function rowsOf(profile: Profile): Finding[] {
  const loops = profile.database?.repetitions ?? []
  const isLoop = ({ location }: AwaitsInARow) => loops.some(({ locations: [line] }) => isSameLine(line, location))
  return awaitsInARow(profile)
    .filter(row => !isLoop(row))
    .map(row => ({ what: 'row', ...row }))
}

function isSameLine(one: Location | undefined, other: Location | null): boolean {
  return one !== undefined && one.file === other?.file && one.line === other.line
}

function slowCalls(profile: Profile, slices: readonly TimeSlice[]): Finding[] {
  return slowestCalls(profile, slices)
    .filter(({ kind, span, time, times }) => {
      const isRepeated = kind === 'sql' && times >= repetitionsFrom
      return span !== null && !isRepeated && time >= slowFrom && time >= profile.duration * slowShare
    })
    .map(call => ({ what: 'slow', call, time: call.time, location: call.span?.location ?? null }))
}

function lostTime({ duration }: Profile, times: ReadonlyMap<TimeKind, number>): Finding[] {
  const waited = times.get('waiting') ?? 0
  const unaccounted = times.get('unaccounted') ?? 0
  const isLost = unaccounted >= slowFrom && unaccounted > duration / 2
  return [
    ...(waited >= waitedFrom ? [{ what: 'waited' as const, time: waited, location: null }] : []),
    ...(isLost ? [{ what: 'unaccounted' as const, time: unaccounted, location: null }] : []),
  ]
}
