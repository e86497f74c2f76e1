import { blocksIn, lengthOf, waitsOf } from '../../core/intervals.ts'
import type { ConnectionWait, Location, Profile, Repetition, Span } from '../../core/profile.ts'
import type { Block, Inline } from '../../core/view/block.ts'
import { renderLocation } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { failedBefore, failedCalls, isSilentFailure, silentFailure } from './failed-calls.ts'
import { count, formatDuration, formatMilliseconds, formatShare } from '../../core/view/units.ts'
import { repetitionTexts, repetitionTime } from '../queries/remedy.ts'
import { readStatement } from '../queries/statement.ts'
import { awaitsInARow, type AwaitsInARow } from './awaits-in-a-row.ts'
import { onlyMisses } from './cache-misses.ts'
import {
  gatherCalls,
  isOperation,
  kindView,
  renderKind,
  type SlowCall,
  slowestCalls,
  timeByKind,
  type Timed,
  type TimedContext,
  type TimeSlice,
} from './exclusive-time.ts'
import { openTransactions } from './open-transactions.ts'

/**
 * What is worth changing in a request. failed: queries or calls failed, and the status does not tell. caught: a
 * failed response whose exception nobody saw. repeated: a query ran again and again. row: calls awaited one after
 * another could overlap. slow: a call took much of the request. waited: queries waited for a connection. open: a
 * transaction was open meanwhile. blocked: code of others, or of nobody known, blocked the event loop. misses: a cache
 * had nothing. twice: a hook was registered twice. unaccounted: most of the time belongs to nobody.
 */
export type Finding = { time: number; location: Location | null } & (
  | { what: 'repeated'; repetition: Repetition }
  | { what: 'failed'; call: 'query' | 'call' | 'error'; count: number; error: string; isLate: boolean; status: number }
  | { what: 'caught'; status: number; before: ReturnType<typeof failedBefore> }
  | { what: 'row'; count: number; saved: number }
  | { what: 'slow'; call: SlowCall }
  | ({ what: 'waited'; longest: number } & Pick<ConnectionWait, 'pool' | 'inVain'>)
  | { what: 'open'; query: number; meanwhile: string }
  | {
      what: 'blocked'
      by: readonly string[]
      blocks: readonly number[]
      answer: { query: number; rows: number } | null
    }
  | { what: 'misses'; of: string; reads: number }
  | { what: 'twice'; hook: string; name: string }
  | { what: 'unaccounted' }
)

type Repeated = Extract<Finding, { what: 'repeated' }>

/** A line that sends one query this often repeats it. */
const repetitionsFrom = 5

/** A call is slow from this many milliseconds on, if it takes this part of its request. */
export const slowFrom = 10
const slowShare = 0.15
/** Shorter waits, in milliseconds, are not worth a word. */
export const waitedFrom = 1
const findingsShown = 5

/** The findings of a request: failures, then most time first. */
export function findingsOf(profile: Profile, slices: readonly TimeSlice[]): Finding[] {
  const wasteful = [
    ...repeatedQueries(profile),
    ...rowsOf(profile),
    ...slowCalls(profile, slices),
    ...openTransactions(profile)
      .filter(({ time }) => time >= profile.duration * slowShare)
      .map(open => ({ what: 'open' as const, ...open })),
    ...lostTime(profile, slices),
    // What these cost is in the times of others.
    ...onlyMisses(profile).map(misses => ({ what: 'misses' as const, time: 0, ...misses })),
    ...(profile.routing.matched?.hooksTwice ?? []).map(twice => ({ what: 'twice' as const, time: 0, ...twice })),
  ].sort((one, other) => other.time - one.time)
  return [...failuresOf(profile), ...wasteful].slice(0, findingsShown)
}

/** What failed in spite of a status below 400, and a failed response without an exception. */
function failuresOf(profile: Profile): Finding[] {
  const { status } = profile
  if (status === null) return []
  const failed = status < 400 ? failedCalls(profile) : []
  const found = (['query', 'call', 'error'] as const).flatMap((call): Finding[] => {
    const those = failed.filter(({ what }) => what === call)
    const [first] = those
    if (first === undefined) return []
    const time = those.reduce((sum, { time }) => sum + time, 0)
    const isLate = those.every(({ isLate }) => isLate)
    return [{ ...first, what: 'failed', call, count: those.length, isLate, status, time }]
  })
  if (!isSilentFailure(profile)) return found
  const before = failedBefore(profile)
  return [...found, { what: 'caught', status, before, time: 0, location: before?.location ?? null }]
}

/** The findings that a line of code is to blame for, most time first: queries in a loop, and awaits in a row. */
export function wastefulCalls(profile: Profile): Finding[] {
  const loops = (profile.database?.repetitions ?? []).filter(({ kind }) => kind !== 'duplicate').map(findingOf)
  return [...loops, ...rowsOf(profile)].sort((one, other) => other.time - one.time)
}

/** The repetitions that the drivers have told of, or else those on the timeline of what no driver tells of. */
function repeatedQueries(profile: Timed): Repeated[] {
  if (profile.database != null) return profile.database.repetitions.map(findingOf)
  return gatherCalls(profile)
    .filter(
      ({ first, times }) =>
        first.kind === 'query' && times >= repetitionsFrom && !readStatement(first.detail ?? '').isAllowed,
    )
    .map(({ first, time: duration, times: count }) => {
      const locations = first.location === null ? [] : [first.location]
      return findingOf({ kind: 'loop', sql: first.detail ?? first.name, count, duration, locations })
    })
}

function findingOf(repetition: Repetition): Repeated {
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

/** Whether a finding says N+1 of a query. Equal queries and single writes have other names. */
export function isLoop({ kind, location }: Span, profile: Timed): boolean {
  const loops = repeatedQueries(profile).filter(({ repetition }) => repetition.kind === 'loop')
  return kind === 'query' && loops.some(({ location: line }) => isSameLine(line ?? undefined, location))
}

function isSameLine(one: Location | undefined, other: Location | null): boolean {
  return one !== undefined && one.file === other?.file && one.line === other.line
}

function slowCalls(profile: Profile, slices: readonly TimeSlice[]): Finding[] {
  const told = profile.database?.repetitions ?? []
  return slowestCalls(profile, slices)
    .filter(({ blocking, kind, span, time, times }) => {
      const isTold = told.some(({ sql, locations: [line] }) => sql === span?.detail && isSameLine(line, span.location))
      const isRepeated = kind === 'sql' && (times >= repetitionsFrom || isTold)
      // Time between the calls, such as that of sending a stream, counts only as far as code ran in it.
      const took = span === null ? blocking : time
      return !isRepeated && took >= slowFrom && took >= profile.duration * slowShare
    })
    .map(call => ({ what: 'slow', call, time: call.time, location: call.span?.location ?? null }))
}

function lostTime(profile: Profile, slices: readonly TimeSlice[]): Finding[] {
  const { duration, eventLoop } = profile
  const times = new Map(timeByKind(slices))
  const blocked = times.get('blocked') ?? 0
  const unaccounted = times.get('unaccounted') ?? 0
  const by = blockers(profile)
  const blocks = blocksIn(
    slices.filter(({ kind }) => kind === 'blocked'),
    eventLoop.blocked,
  )
  const answer = by.length === 0 ? longAnswer(profile) : { location: null, answer: null }
  const isLost = unaccounted >= slowFrom && unaccounted > duration / 2
  return [
    ...waits(profile, slices),
    ...(blocked >= slowFrom && blocked >= duration * slowShare
      ? [{ what: 'blocked' as const, time: blocked, by, blocks, ...answer }]
      : []),
    ...(isLost ? [{ what: 'unaccounted' as const, time: unaccounted, location: null }] : []),
  ]
}

/** A driver that reads more rows than this blocks the event loop for long. */
const rowsOfLongAnswer = 5000

function longAnswer({ database }: Profile): Pick<Extract<Finding, { what: 'blocked' }>, 'location' | 'answer'> {
  const queries = database?.queries ?? []
  const [most] = queries.filter(({ blocked }) => blocked >= slowFrom).sort((a, b) => Number(b.rows) - Number(a.rows))
  if (most === undefined || Number(most.rows) < rowsOfLongAnswer) return { location: null, answer: null }
  return { location: most.location, answer: { query: queries.indexOf(most) + 1, rows: Number(most.rows) } }
}

/** The tokens of other requests whose code blocked the event loop, the longest first. */
function blockers({ eventLoop, token }: Profile): string[] {
  const longestFirst = eventLoop.blocked.toSorted((one, other) => other.duration - one.duration)
  return [...new Set(longestFirst.flatMap(({ by }) => (by === null || by === token ? [] : by)))]
}

/** One finding for each cause that queries waited for, with what the pool counted at the longest of their waits. */
function waits({ duration, eventLoop, spans }: Profile, slices: readonly TimeSlice[]): Finding[] {
  const found = new Map<string, Extract<Finding, { what: 'waited' }>>()
  for (const [id, span] of spans.entries()) {
    if (span.wait === undefined || span.charged === 0) continue
    const { inVain, pool } = span.wait
    const longest = lengthOf(waitsOf(span, eventLoop.blocked))
    const own = slices.filter(({ kind, span }) => kind === 'waiting' && span === id)
    const known = found.get(causeOf(span.wait))
    const time = (known?.time ?? 0) + lengthOf(own)
    if (known !== undefined && known.longest >= longest) known.time = time
    else {
      const waited = { what: 'waited' as const, time, pool, longest, location: span.location }
      found.set(causeOf(span.wait), { ...waited, ...(inVain && { inVain }) })
    }
  }
  return [...found.values()].filter(finding => {
    const { longest, time } = finding
    // Many short waits for connections that were there have no cause that one could remove.
    const isCaused = causeOf(finding) !== 'unknown' || (time >= slowFrom && time >= duration * slowShare)
    return longest >= waitedFrom && isCaused
  })
}

/** Why a query had to wait, by what was seen then. Nothing else is said to be the cause. */
export function causeOf({
  inVain,
  pool,
}: Pick<ConnectionWait, 'inVain' | 'pool'>): 'none' | 'queue' | 'unknown' | 'opening' | 'busy' {
  if (inVain) return 'none'
  if (pool === 'queue') return pool
  // A pool lends what is free only after all have asked.
  if (pool === null || pool.free > pool.waiting) return 'unknown'
  return pool.open < pool.most ? 'opening' : 'busy'
}

/** The five things that took longest, each with its place, time and share of the whole: "the request". */
export function renderSlowestFive(calls: readonly SlowCall[], context: TimedContext, whole = 'the request'): Markup {
  const { duration } = context.profile
  const five = calls.slice(0, 5)
  const together = five.reduce((sum, { time }) => sum + time, 0)
  return html`<section aria-labelledby="slowest"><h2 id="slowest">Slowest five <small>ms and share; ${formatShare(together, duration)} of ${whole} together</small></h2>
<table class="lines slowest"><caption class="sr-only">Slowest five</caption>
<tbody>${five.map(
    call => html`
<tr><th scope="row">${renderKind(call.kind)} ${callName(call)}</th><td class="only-wide">${call.span?.location != null && renderLocation(call.span.location, context)}</td><td class="number">${formatMilliseconds(call.time)}</td><td class="number muted">${formatShare(call.time, duration)}</td></tr>`,
  )}
</tbody></table></section>`
}

/** 20 × select products; loadSession without its calls; sending. */
export function callName({ isPart, kind, span, times }: SlowCall): string {
  if (span === null) return kindView(kind).label.toLowerCase()
  return `${times > 1 ? `${times.toLocaleString('en')} × ` : ''}${span.name}${isPart ? ' without its calls' : ''}`
}

/** What a finding says: the claim with its number, then what to do about it. */
export function findingText(finding: Finding, duration: number): readonly [claim: string, remedy: Inline] {
  const share = formatShare(finding.time, duration)
  const time = formatDuration(finding.time)
  if (finding.what === 'repeated') {
    const [what, remedy] = repetitionTexts(finding.repetition)
    return [`${what}, ${repetitionTime(finding.repetition)}.`, remedy]
  }
  if (finding.what === 'failed') {
    const { call, error, isLate, status } = finding
    const what = count(finding.count, call, call === 'query' ? 'queries' : undefined)
    const how = call === 'error' ? ' that nobody caught' : ' failed'
    return [`${what}${how}${isLate ? ' after the response' : `, and the request was answered ${status}`}.`, error]
  }
  if (finding.what === 'caught') return silentFailure(finding.status, finding.before)
  if (finding.what === 'row') {
    const { count, saved } = finding
    return [
      `${count} awaits one after another, ${time}, ${formatDuration(saved)} could overlap.`,
      'None needs the result of another. Promise.all would await them together.',
    ]
  }
  if (finding.what === 'waited') return waitText(finding)
  if (finding.what === 'open') {
    const { meanwhile, query } = finding
    const claim = `The transaction of query ${query} was open for ${time} while ${meanwhile}.`
    return [claim, 'It holds its connection and its locks meanwhile.']
  }
  if (finding.what === 'misses') {
    const { of, reads } = finding
    return [`${of}: ${reads} reads, ${reads} misses.`, 'If this goes on, compare with the keys that are set.']
  }
  if (finding.what === 'twice') {
    return [`${finding.hook} ${finding.name} is registered twice.`, 'It runs twice in each request to the route.']
  }
  if (finding.what === 'blocked') {
    const blocked = blockedText(finding.time, finding.blocks)
    return [`The event loop was blocked for ${blocked} meanwhile, ${share} of the request.`, blockedRemedy(finding)]
  }
  if (finding.what === 'unaccounted') {
    return [`${time} unaccounted, ${share} of the request.`, 'No hook, handler or recorded call ran.']
  }
  if (isUnended(finding.call)) return [`${callName(finding.call)} had not ended after ${time}.`, unrecorded]
  const { blocking, blocks } = finding.call
  const blocked = blocking < slowFrom ? '' : ` It blocked the event loop for ${blockedText(blocking, blocks)}.`
  return [`${callName(finding.call)}: ${time}, ${share} of the request.${blocked}`, slowRemedy(finding)]
}

/** 187 ms (9 blocks, the longest 24.0 ms). */
export function blockedText(time: number, blocks: readonly number[]): string {
  const each = ` (${blocks.length} blocks, the longest ${formatDuration(Math.max(...blocks))})`
  return `${formatDuration(time)}${blocks.length > 1 ? each : ''}`
}

/** How to find what blocks. */
export const sampling = 'A sample shows which functions: the tool and command sample, or the header X-Profile: cpu.'

function blockedRemedy({ answer, by: [first, ...others] }: Extract<Finding, { what: 'blocked' }>): Inline {
  if (answer !== null) {
    return `Meanwhile the driver read the ${answer.rows.toLocaleString('en')} rows of query ${answer.query}. Ask for fewer, or for fewer columns.`
  }
  // Once the event loop has turned, any code may run.
  if (first === undefined) return `Whose code ran is not known: it may be that of this request. ${sampling}`
  const more = others.length === 0 ? '' : ` and ${count(others.length, 'other')}`
  return ['No query or call is charged for it. Code of another request ran: ', { code: first }, `${more}.`]
}

function waitText(finding: Extract<Finding, { what: 'waited' }>): readonly [claim: string, remedy: string] {
  const { longest, pool, time } = finding
  if (finding.inVain) return vainWaitText(longest, pool)
  // What overlaps with other work of the request is in the time of that.
  const isBeside = time < waitedFrom
  const waited = isBeside ? `up to ${formatDuration(longest)} beside other work of this request` : formatDuration(time)
  const isPartly = !isBeside && longest - time >= waitedFrom
  const beside = isPartly ? ` The longest wait took ${formatDuration(longest)}, beside other work of this request.` : ''
  const cause = causeOf(finding)
  if (pool === 'queue') {
    const claim = `Waited ${waited} for a connection that was busy with earlier queries.`
    return [claim, `It sends one at a time.${beside}`]
  }
  if (pool === null) return [`Waited ${waited} for a connection.`, beside.trim()]
  if (cause === 'busy') {
    const claim = `Waited ${waited} for a connection: ${pool.open} of ${pool.most} in use, ${pool.waiting} waiting.`
    return [claim, `Hold them for less time, or allow more.${beside}`]
  }
  if (cause === 'unknown') {
    const claim = `Waited ${waited} for a connection, though one was free when the pool was asked.`
    return [claim, `Why was not seen. Some pools test a connection before they lend it.${beside}`]
  }
  const { closing } = pool
  const idle = closing === null ? '' : `Idle ones are closed after ${closing.after / 1000} s (${closing.option}). `
  return [
    `The pool had no ${pool.open === 0 ? 'open' : 'free'} connection: opening one took ${waited}.`,
    `${idle}Usually harmless in development.${beside}`,
  ]
}

/** What is known of a wait that ended without a connection: not why, but what its pool counted when it was asked. */
function vainWaitText(longest: number, pool: ConnectionWait['pool']): readonly [claim: string, remedy: string] {
  const claim = `No connection within ${formatDuration(longest)}`
  const unsent = 'What waited for it was never sent.'
  if (pool === null || pool === 'queue') return [`${claim}.`, unsent]
  if (causeOf({ pool }) === 'busy') {
    return [`${claim}: ${pool.open} of ${pool.most} in use, ${pool.waiting} waiting.`, unsent]
  }
  return [`${claim}. The pool had ${pool.open === 0 ? 'none' : pool.open} open.`, unsent]
}

/** Whether a function still ran at the end of the request, or never replied. */
export function isUnended({ span }: SlowCall): boolean {
  return span !== null && span.outcome === 'unfinished' && !isOperation(span)
}

const unrecorded = 'It waits for what is not recorded, or it neither replies nor calls done().'

function slowRemedy({ call }: Extract<Finding, { what: 'slow' }>): string {
  const { blocking, time } = call
  const rest = 'Its own code, or a wait for what is not recorded or had not ended.'
  if (blocking >= slowFrom) return blocking >= time / 2 ? sampling : `${rest} ${sampling}`
  if (call.kind === 'hook') return 'It delays every request that it runs for.'
  if (call.kind === 'handler') return rest
  return call.times > 1 ? 'The calls together.' : ''
}

const tones: Partial<Record<Finding['what'], 'error' | 'neutral'>> = {
  failed: 'error',
  caught: 'error',
  waited: 'neutral',
  misses: 'neutral',
}

export function findingsBlock(findings: readonly Finding[], profile: Profile): Extract<Block, { findings: unknown }> {
  return {
    findings: findings.map(finding => {
      const [claim, remedy] = findingText(finding, profile.duration)
      // Only a feature that may be missing adds samples.
      const isAsked = 'samples' in profile && typeof remedy === 'string'
      const detail = isAsked ? remedy.replace(sampling, 'The CPU panel shows which functions.') : remedy
      const places = 'repetition' in finding ? finding.repetition.locations : [finding.location ?? []].flat()
      const tone = finding.what === 'waited' && finding.inVain ? 'error' : (tones[finding.what] ?? 'warning')
      return { tone, claim, detail, places }
    }),
  }
}
