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

/** The newest request of a profile's route before it; null if none is stored. */
export async function previousRequest(archive: Source, profile: Profile): Promise<ProfileSummary | null> {
  if (profile.routing.matched === null) return null
  const { profiles } = await archive.search({ ...ofRoute(profile), timeTo: profile.time, perPage: perPageLimit })
  return profiles.find(({ token, time }) => token !== profile.token && time <= profile.time) ?? null
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

/** The requests that did the same as the earlier of two, before it, and the same as the later one, after it. */
export async function othersLike(archive: Source, a: Profile, b: Profile): Promise<Others> {
  const [earlier, later] = a.time <= b.time ? [a, b] : [b, a]
  const [before, after] = await Promise.all([
    archive.search({ ...ofRoute(earlier), timeTo: earlier.time, perPage: perPageLimit }),
    archive.search({ ...ofRoute(later), timeFrom: later.time, sort: 'oldest', perPage: perPageLimit }),
  ])
  return {
    before: like(earlier, before.profiles).slice(0, othersMost),
    after: like(later, after.profiles).slice(0, othersMost),
  }
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
