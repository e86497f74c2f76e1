import { type Location, type Profile, toMicroseconds } from '../../core/profile.ts'
import type { ProfileSummary, Trouble } from '../../core/summary.ts'
import { formatDuration, formatNumber, formatShare } from '../../core/view/units.ts'
import { chainOf, crashText, failureText, nearestOwnFrame, placeOfFailure } from '../exceptions/exceptions.ts'
import { resolveLocation } from '../exceptions/source-excerpt.ts'
import { repetitionTexts } from '../queries/remedy.ts'
import { leastReads, onlyMisses, writtenPatterns } from './cache-misses.ts'
import { sliceTime, type SlowCall, timeByKind, type TimeSlice } from './exclusive-time.ts'
import { failedBefore, failedCalls } from './failed-calls.ts'
import {
  blockedText,
  callName,
  causeOf,
  type Finding,
  findingsOf,
  findingText,
  isUnended,
  sampling,
  slowFrom,
} from './findings.ts'

/** A query is slow from this many milliseconds on, if it takes this part of its request. */
const slowQueryFrom = 20
const slowQueryShare = 0.5

const longestText = 200

/** Requests a second that are examined, and those with silent failures. Under more load they tell as much as all. */
const examinedEachSecond = 20

/** What lists and searches know about the time of a request, and about what was wrong. */
export function summarisePerformance(profile: Profile): Partial<ProfileSummary> {
  const slices = sliceTime(profile)
  const troubles = isSound(profile) ? [] : isExamined(profile) ? troublesOf(profile, slices) : null
  return {
    ...failuresOf(profile),
    ...(troubles === null ? { isUnexamined: true } : troubles.length > 0 && { troubles }),
    times: timeByKind(slices).map(([kind, time]) => [kind, toMicroseconds(time)]),
  }
}

function failuresOf(profile: Profile): Pick<ProfileSummary, 'failures'> {
  const failed = failedCalls(profile)
  const [first] = failed
  if (first === undefined) return {}
  const amount = (wanted: typeof first.what) => failed.filter(({ what }) => what === wanted).length
  const amounts = { queries: amount('query'), calls: amount('call'), errors: amount('error') }
  return { failures: { ...amounts, first: first.error.slice(0, longestText) } }
}

/** Whether a request was quick and nothing failed or repeated in it, as it is with most. */
function isSound(profile: Profile): boolean {
  const { database, duration, routing } = profile
  const isQuick = duration < slowFrom && !database?.repetitions.length && routing.matched?.hooksTwice === undefined
  return isQuick && Number(profile.status) < 500 && !hasSilentFailure(profile) && onlyMisses(profile, 1).length === 0
}

/** Whether something failed that the status of the response does not tell. */
function hasSilentFailure({ database, exceptions, http, status }: Profile): boolean {
  const isUncaught = exceptions.some(({ uncaught }) => uncaught !== undefined)
  return status === null || isUncaught || Boolean(database?.failed || http?.failed)
}

let second = 0
let examined = 0

/** Whether the troubles of a request are looked for, which takes a tenth of what profiling costs. */
function isExamined(profile: Profile): boolean {
  const now = Math.floor(performance.now() / 1000)
  if (now !== second) [second, examined] = [now, 0]
  return ++examined <= examinedEachSecond || hasSilentFailure(profile)
}

/** What is worth changing about a request's route, as far as one request tells. */
function troublesOf(profile: Profile, slices: readonly TimeSlice[]): Trouble[] {
  const { crash, database, duration, exceptions, status } = profile
  const findings = findingsOf(profile, slices).flatMap((finding): Trouble[] => {
    const kind = kindOf(finding, duration)
    if (kind === null || (kind.what === 'uncaught' && crash !== undefined)) return []
    const [claim, detail] = textOf(finding, profile)
    // All others were mapped when they were recorded.
    const place = kind.what === 'uncaught' && finding.location ? resolveLocation(finding.location) : finding.location
    const told = trouble(kind.what, claim, typeof detail === 'string' ? detail : '', place)
    return [{ ...told, ...(kind.isTimed && { time: finding.time }) }]
  })
  const found = [...findings, ...fewMisses(profile)]
  const chain = chainOf(profile)
  const thrown = exceptions[chain.worst]
  if (thrown === undefined || (Number(status) < 500 && crash === undefined)) return found
  const [what, claim] = crash === undefined ? (['fails', ''] as const) : (['crash', crashText(crash)] as const)
  const before = failedBefore(profile)
  const error = failureText(chain, database) ?? ''
  const detail = before === null ? error : `${error.replace(/\.$/, '')}. ${before.says}`
  const place = placeOfFailure(chain, nearestOwnFrame(exceptions, chain.cause), database)
  return [trouble(what, claim, detail, place ?? before?.location ?? null), ...found]
}

/**
 * Reads that missed though the request then wrote such keys, as a cache does. Only the same in other requests for the
 * URL tells that they always do.
 */
function fewMisses(profile: Profile): Trouble[] {
  if (profile.method !== 'GET') return []
  const written = writtenPatterns(profile)
  const few = onlyMisses(profile, 1).filter(({ pattern, reads }) => reads < leastReads && written.has(pattern))
  return few.map(({ location, of }) => {
    const detail = 'Compare the keys that are read with those that are set.'
    return { ...trouble('misses', `${of}: each read missed`, detail, location), isEach: true }
  })
}

/** What a finding says beside the name of its route. */
function textOf(finding: Finding, { duration, method, routing }: Profile): ReturnType<typeof findingText> {
  const [claim, remedy] = findingText(finding, duration)
  const time = formatDuration(finding.time)
  if (finding.what === 'caught') return [claim, finding.before?.says ?? remedy]
  if (finding.what === 'repeated' && finding.repetition.kind === 'loop') {
    const [, all] = repetitionTexts(finding.repetition)
    const share = `${formatNumber(finding.time)} of ${formatDuration(duration)}`
    return [`one query ${finding.repetition.count.toLocaleString('en')} times (N+1)`, `${share}. ${all}`]
  }
  if (finding.what !== 'slow') return [claim, remedy]
  const { blocking, blocks } = finding.call
  const called = isGap(finding.call) ? 'code outside its hooks and handler' : callName(finding.call)
  const name = called.startsWith(`${method} ${routing.matched?.url}`) ? 'its handler' : called
  if (isUnended(finding.call)) return [`${name} had not ended after ${time}`, remedy]
  const share = `${formatShare(finding.time, duration)} of the request`
  if (blocking < slowFrom) return [`${name} took ${time}, ${share}`, remedy]
  return [`${name} blocked the event loop for ${blockedText(blocking, blocks)}`, sampling]
}

/** Whether code ran between the hooks and handler, though not for what Fastify is known to do there. */
function isGap({ kind, span }: SlowCall): boolean {
  return span === null && kind !== 'serialization'
}

function trouble(what: Trouble['what'], claim: string, detail: string, location: Location | null): Trouble {
  const place = location && { file: location.file, line: location.line, column: location.column }
  return { what, claim: claim.slice(0, longestText), detail: detail.slice(0, longestText), location: place }
}

/**
 * The kind of trouble that a finding is; null if it is no trouble of the route itself.
 * @returns isTimed for a time, which may be chance in one request
 */
function kindOf(finding: Finding, duration: number): { what: Trouble['what']; isTimed: boolean } | null {
  if (finding.what === 'failed') {
    return { what: finding.call === 'error' ? 'uncaught' : `failed ${finding.call}`, isTimed: false }
  }
  if (finding.what === 'caught') return { what: 'fails', isTimed: false }
  if (finding.what === 'repeated' || finding.what === 'twice') return { what: finding.what, isTimed: false }
  if (finding.what === 'unaccounted') return null
  if (finding.what === 'waited' && causeOf(finding) !== 'busy' && !finding.inVain) return null
  if (finding.what === 'blocked' && finding.by.length > 0) return null
  // A cold cache misses once.
  if (finding.what !== 'slow') return { what: finding.what, isTimed: true }
  const { blocking, kind } = finding.call
  if (blocking >= slowFrom) return { what: 'blocked', isTimed: true }
  const isSlow = kind === 'sql' && finding.time >= slowQueryFrom && finding.time >= duration * slowQueryShare
  return isSlow || isUnended(finding.call) ? { what: 'slow', isTimed: true } : null
}
