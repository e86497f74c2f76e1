import { type Location, type Profile, toMicroseconds } from '../../core/profile.ts'
import type { ProfileSummary, Trouble } from '../../core/summary.ts'
import { nearestOwnFrame, rootCauseOf } from '../exceptions/exceptions.ts'
import { onlyMisses } from './cache-misses.ts'
import { sliceTime, timeByKind, type TimeSlice } from './exclusive-time.ts'
import { failedCalls } from './failed-calls.ts'
import { causeOf, type Finding, findingsOf, findingText, slowFrom } from './findings.ts'

/** A query is slow from this many milliseconds on, if it takes this part of its request. */
const slowQueryFrom = 20
const slowQueryShare = 0.5

const longestText = 200

/** What lists and searches know about the time of a request, and about what was wrong. */
export function summarisePerformance(profile: Profile): Partial<ProfileSummary> {
  const slices = sliceTime(profile)
  const troubles = troublesOf(profile, slices)
  return {
    ...failuresOf(profile),
    ...(troubles.length > 0 && { troubles }),
    times: timeByKind(slices).map(([kind, time]) => [kind, toMicroseconds(time)]),
  }
}

/** How many queries and calls failed, with the first error. */
function failuresOf(profile: Profile): Pick<ProfileSummary, 'failures'> {
  const failed = failedCalls(profile)
  const [first] = failed
  if (first === undefined) return {}
  const queries = failed.filter(({ what }) => what === 'query').length
  return { failures: { queries, calls: failed.length - queries, first: first.error.slice(0, longestText) } }
}

/** What is worth changing about a request's route, as far as one request tells. */
function troublesOf(profile: Profile, slices: readonly TimeSlice[]): Trouble[] {
  const { database, duration, exceptions, http, status } = profile
  const failed = Number(status) >= 500
  const isFine = !failed && !database?.failed && !database?.repetitions.length && !http?.failed
  // Most requests end here, since this runs for each of them.
  if (duration < slowFrom && isFine && onlyMisses(profile).length === 0) return []
  const found = findingsOf(profile, slices).flatMap((finding): Trouble[] => {
    const kind = kindOf(finding, duration)
    if (kind === null) return []
    const [claim, detail] = findingText(finding, duration)
    const told = trouble(kind.what, claim, typeof detail === 'string' ? detail : '', finding.location)
    return [{ ...told, ...(kind.isTimed && { time: finding.time }) }]
  })
  const [thrown] = exceptions
  if (thrown === undefined || !failed) return found
  const root = rootCauseOf(exceptions)
  const texts = [...new Set([thrown, exceptions[root] ?? thrown])].map(
    ({ class: name, message }) => `${name}: ${message}`,
  )
  return [trouble('fails', '', texts.join(', caused by '), nearestOwnFrame(exceptions, root)), ...found]
}

function trouble(what: Trouble['what'], claim: string, detail: string, location: Location | null): Trouble {
  const place = location && { file: location.file, line: location.line, column: location.column }
  return { what, claim: claim.slice(0, longestText), detail: detail.slice(0, longestText), location: place }
}

/** The kind of trouble that a finding is; null for what may be somebody else's. Times may be chance in one request. */
function kindOf(finding: Finding, duration: number): { what: Trouble['what']; isTimed: boolean } | null {
  const timed = (what: Trouble['what'], isOwn: boolean) => (isOwn ? { what, isTimed: true } : null)
  switch (finding.what) {
    case 'failed':
      return { what: finding.call === 'query' ? 'failed query' : 'failed call', isTimed: false }
    case 'caught':
      return { what: 'fails', isTimed: false }
    case 'repeated':
      return { what: 'repeated', isTimed: false }
    case 'row':
      return timed('row', true)
    case 'waited':
      return timed('waited', causeOf(finding) === 'busy')
    case 'blocked':
      return timed('blocked', finding.by.length === 0)
    case 'open':
      return timed('open', true)
    case 'misses':
      // A cold cache misses once.
      return timed('misses', true)
    case 'twice':
    case 'unaccounted':
      return null
    default: {
      const { blocking, kind } = finding.call
      if (blocking >= slowFrom) return timed('blocked', true)
      return timed('slow', kind === 'sql' && finding.time >= slowQueryFrom && finding.time >= duration * slowQueryShare)
    }
  }
}
