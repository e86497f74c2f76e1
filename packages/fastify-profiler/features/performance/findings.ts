import type { PageSources, RunningFeature } from '../../core/feature.ts'
import type { Location, Profile, Repetition } from '../../core/profile.ts'
import type { TimeKind } from '../../core/summary.ts'
import type { Block } from '../../core/view/block.ts'
import { locationText, renderLocation } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { formatDuration, formatMilliseconds, formatShare } from '../../core/view/units.ts'
import { swallowedFailures } from '../../core/store/failed-calls.ts'
import { repetitionTexts } from '../queries/remedy.ts'
import { factsOf } from '../queries/statement.ts'
import { awaitsInARow, type AwaitsInARow } from './awaits-in-a-row.ts'
import {
  gatherCalls,
  kindView,
  renderKind,
  type SlowCall,
  slowestCalls,
  timeByKind,
  type TimedContext,
  type TimeSlice,
} from './exclusive-time.ts'

/**
 * What is worth changing in a request. failed: queries or calls failed, and the response does not tell. caught: a
 * failed response whose exception nobody saw. repeated: a query ran again and again. row: calls awaited one after
 * another could overlap. slow: a call took much of the request. waited: queries waited for a connection. unaccounted:
 * most of the time belongs to nobody.
 */
type Finding = { time: number; location: Location | null } & (
  | { what: 'repeated'; repetition: Repetition }
  | { what: 'failed'; call: 'query' | 'call'; count: number; error: string; isLate: boolean }
  | { what: 'caught'; status: number }
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

/** Milliseconds by which a call that was awaited may seem to end after the response. */
const clockError = 1

/** The findings of a request: failures, then most time first. */
export function findingsOf(profile: Profile, slices: readonly TimeSlice[]): Finding[] {
  const times = new Map(timeByKind(slices))
  const wasteful = [
    ...repeatedQueries(profile),
    ...rowsOf(profile),
    ...slowCalls(profile, slices),
    ...lostTime(profile, times),
  ].sort((one, other) => other.time - one.time)
  return [...failuresOf(profile), ...wasteful].slice(0, findingsShown)
}

/** What failed without a word in the response, and a failed response without an exception. */
function failuresOf(profile: Profile): Finding[] {
  const { exceptions, outcome, status } = profile
  const failed = swallowedFailures(profile)
  const found = (['query', 'call'] as const).flatMap((call): Finding[] => {
    const those = failed.filter(({ what }) => what === call)
    const [first] = those
    if (first === undefined) return []
    const time = those.reduce((sum, { time }) => sum + time, 0)
    const isLate = those.every(({ end }) => end > profile.duration + clockError)
    return [{ what: 'failed', call, count: those.length, error: first.error, isLate, time, location: first.location }]
  })
  const isCaught = status !== null && status >= 500 && exceptions.length === 0 && outcome === 'completed'
  return isCaught ? [...found, { what: 'caught', status, time: 0, location: null }] : found
}

/** The findings that a line of code is to blame for, most time first: queries in a loop, and awaits in a row. */
export function wastefulCalls(profile: Profile): Finding[] {
  const loops = (profile.database?.repetitions ?? []).filter(({ kind }) => kind !== 'duplicate').map(findingOf)
  return [...loops, ...rowsOf(profile)].sort((one, other) => other.time - one.time)
}

/** The repetitions that the drivers have told of, or else those on the timeline of what no driver tells of. */
function repeatedQueries({ database, spans }: Profile): Finding[] {
  if (database !== null) return database.repetitions.map(findingOf)
  return gatherCalls(spans)
    .filter(
      ({ first, ids }) =>
        first.kind === 'query' && ids.length >= repetitionsFrom && !factsOf(first.detail ?? '').isAllowed,
    )
    .map(({ first, ids: { length: count }, time: duration }) => {
      const locations = first.location === null ? [] : [first.location]
      return findingOf({ kind: 'loop', sql: first.detail ?? first.name, count, duration, locations })
    })
}

function findingOf(repetition: Repetition): Finding {
  const { duration, locations } = repetition
  return { what: 'repeated', repetition, time: duration, location: locations[0] ?? null }
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

/** The five things that took longest, each with its place, time and share of the whole: "the request". */
export function renderSlowestFive(calls: readonly SlowCall[], context: TimedContext, whole = 'the request'): Markup {
  const { duration } = context.profile
  const five = calls.slice(0, 5)
  const together = five.reduce((sum, { time }) => sum + time, 0)
  // Rounded times may add up to a little more.
  const share = together < duration * 1.001 ? `; ${formatShare(together, duration)} of ${whole} together` : ''
  return html`<section aria-labelledby="slowest"><h2 id="slowest">Slowest five <small>ms and share${share}</small></h2>
<table class="lines slowest"><caption class="sr-only">Slowest five</caption><colgroup><col><col class="where only-wide"><col class="ms"><col class="share"></colgroup>
<tbody>${five.map(
    call => html`
<tr><th scope="row">${renderKind(call.kind)} ${callName(call)}</th><td class="number only-wide">${call.span?.location != null && renderLocation(call.span.location, context)}</td><td class="number">${formatMilliseconds(call.time)}</td><td class="number muted">${formatShare(call.time, duration)}</td></tr>`,
  )}
</tbody></table></section>`
}

/** 20 × select products; loadSession, its own code; sending. */
export function callName({ isPart, kind, span, times }: SlowCall): string {
  if (span === null) return kindView(kind).label.toLowerCase()
  return `${times > 1 ? `${times} × ` : ''}${span.name}${isPart ? ', its own code' : ''}`
}

/** What a finding says: the claim with its number, then what to do about it. */
export function findingText(finding: Finding, duration: number): readonly [claim: string, remedy: string] {
  const share = formatShare(finding.time, duration)
  const time = formatDuration(finding.time)
  if (finding.what === 'repeated') {
    const [what, remedy] = repetitionTexts(finding.repetition)
    return [`${what}, ${time}.`, remedy]
  }
  if (finding.what === 'failed') {
    const { call, count, error, isLate } = finding
    const what = count === 1 ? `1 ${call}` : `${count} ${call === 'query' ? 'queries' : 'calls'}`
    return [`${what} failed${isLate ? ' after the response' : ', and the response does not tell'}.`, error]
  }
  if (finding.what === 'caught') {
    return [
      `${finding.status} without an exception: whoever sent it may have caught one, which was not seen.`,
      'Throw it, or hand it over with request.recorder?.exception(error).',
    ]
  }
  if (finding.what === 'row') {
    const { count, saved } = finding
    return [
      `${count} awaits one after another, ${time}, ${formatDuration(saved)} could overlap.`,
      'None needs the result of another. Promise.all would await them together.',
    ]
  }
  if (finding.what === 'waited') {
    return [`Waited ${time} for a connection, ${share} of the request.`, 'All connections of the pool were busy.']
  }
  if (finding.what === 'unaccounted') {
    return [
      `${time} unaccounted, ${share} of the request.`,
      'No hook, handler or recorded call ran: another request may have kept the event loop busy.',
    ]
  }
  return [`${callName(finding.call)}: ${time}, ${share} of the request.`, slowRemedy(finding)]
}

function slowRemedy({ call }: Extract<Finding, { what: 'slow' }>): string {
  if (call.kind === 'hook') return 'It delays every request that it runs for.'
  if (call.kind === 'handler') return 'Its own code, or what it waits for without being recorded.'
  return call.times > 1 ? 'The calls together.' : ''
}

const tones: Partial<Record<Finding['what'], 'error' | 'neutral'>> = {
  failed: 'error',
  caught: 'error',
  waited: 'neutral',
}

/** The findings, each with its line. */
export function findingsBlock(findings: readonly Finding[], duration: number): Extract<Block, { findings: unknown }> {
  return {
    findings: findings.map(finding => {
      const [claim, detail] = findingText(finding, duration)
      const places = 'repetition' in finding ? finding.repetition.locations : [finding.location ?? []].flat()
      const tone = tones[finding.what] ?? 'warning'
      return { tone, claim, detail, places }
    }),
  }
}

/** Routes that are remembered. With more, none is told about again. */
const routesMost = 1000

/** Tells about the wasteful calls of each route, once in a process. */
export class RouteAdvice {
  readonly #tell: (sentence: string) => void
  readonly #root: string
  readonly #told = new Set<string>()

  constructor(tell: (sentence: string) => void, root: string) {
    this.#tell = tell
    this.#root = root
  }

  /** Tells the worst finding of a request, unless its route has been told about. */
  consider(profile: Profile): void {
    const { duration, method, routing, token } = profile
    const route = `${method} ${routing.matched?.url ?? ''}`
    if (routing.matched === null || this.#told.has(route) || this.#told.size >= routesMost) return
    const [worst] = wastefulCalls(profile)
    if (worst === undefined) return
    this.#told.add(route)
    const [claim] = findingText(worst, duration)
    const place = worst.location === null ? '' : ` ${locationText(worst.location, this.#root)}`
    this.#tell(`${route}: ${claim}${place} (profile ${token})`)
  }
}

/** Tells about wasteful calls as they are recorded. */
export function adviseOnCalls({ advise, root }: PageSources): RunningFeature {
  if (advise === null) return {}
  const advice = new RouteAdvice(advise, root)
  return { written: (_summary, profile) => advice.consider(profile) }
}
