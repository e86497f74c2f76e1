import type { Others } from '../../features/compare/comparison.ts'
import type { Sightings } from '../feature.ts'
import type { Profile } from '../profile.ts'
import type { ProfileSummary, SearchCriteria } from '../summary.ts'
import type { ProfileArchive } from './profile-archive.ts'
import { summarise } from './profile-text.ts'
import { perPageLimit } from './search.ts'

type Source = Pick<ProfileArchive, 'search'>

/** Of these, the nearest in time tell how much the times of a request vary by chance. */
const othersMost = 20

/**
 * The request to compare another one with: the newest of its route from before the application's last start, which
 * likely has the change, else the previous one. Null if none is stored.
 */
export async function previousRequest(archive: Source, profile: Profile): Promise<ProfileSummary | null> {
  if (profile.routing.matched === null) return null
  for (const timeTo of [Math.floor(profile.process.startedAt), profile.time]) {
    const { profiles } = await archive.search({ ...ofRoute(profile), timeTo, perPage: perPageLimit })
    const previous = profiles.find(({ token, time }) => token !== profile.token && time <= timeTo)
    if (previous !== undefined) return previous
  }
  return null
}

/** What requests with the same exception are found by: its class and message, up to the first number. */
export function exceptionWords(exception: string): string {
  return exception.replace(/\d.*/s, '').trim()
}

/** The stored requests with the exception of a profile, numbers aside; null if there is no other. */
export async function sightingsOf(archive: Source, profile: Profile): Promise<Sightings | null> {
  const { exception } = summarise(profile)
  if (exception === null) return null
  const criteria = { exception: exceptionWords(exception) }
  const { profiles, total } = await archive.search({ ...criteria, sort: 'oldest', perPage: 1 })
  const [first] = profiles
  return first === undefined || total < 2 ? null : { count: total, since: first.time, criteria }
}

/**
 * The requests on each side of two that did the same as they: from its start up to the border as the earlier one, from
 * there on as the later one. The border is a restart of the application between them, else the earlier one itself.
 */
export async function othersLike(archive: Source, a: Profile, b: Profile): Promise<Others> {
  const [earlier, later] = a.time <= b.time ? [a, b] : [b, a]
  const border = restartBetween(earlier, later) ?? earlier.time
  const [before, since] = await Promise.all([
    archive.search({
      ...ofRoute(earlier),
      timeFrom: Math.floor(earlier.process.startedAt),
      timeTo: border,
      perPage: perPageLimit,
    }),
    archive.search({ ...ofRoute(later), timeFrom: border, perPage: perPageLimit }),
  ])
  const others = [
    like(earlier, before.profiles).slice(0, othersMost),
    like(later, since.profiles)
      .filter(({ token }) => token !== earlier.token)
      .slice(0, othersMost),
  ] as const
  return a === earlier ? { a: others[0], b: others[1] } : { a: others[1], b: others[0] }
}

/** When the application started again between two requests, in milliseconds since 1970; null if it did not. */
function restartBetween(earlier: Profile, later: Profile): number | null {
  const { startedAt } = later.process
  return startedAt > earlier.time ? startedAt : null
}

function ofRoute({ method, routing }: Profile): SearchCriteria {
  return { method, route: `=${routing.matched?.url ?? ''}` }
}

/** Requests with the status and the number of queries of a profile, without itself. */
function like({ database, status, token }: Profile, summaries: readonly ProfileSummary[]): ProfileSummary[] {
  const queries = database?.count ?? 0
  return summaries.filter(
    summary => summary.token !== token && summary.status === status && summary.queries.count === queries,
  )
}

/** The requests of a route before a moment and since: of each the nearest, as many as a search returns. */
export async function requestsAround(
  archive: Source,
  { method, route }: { method: string; route: string },
  at: number,
): Promise<ProfileSummary[]> {
  const criteria = { method, route: `=${route}`, perPage: perPageLimit }
  const [before, since] = await Promise.all([
    archive.search({ ...criteria, timeTo: at - 1 }),
    archive.search({ ...criteria, timeFrom: at, sort: 'oldest' }),
  ])
  return [...since.profiles.toReversed(), ...before.profiles]
}
