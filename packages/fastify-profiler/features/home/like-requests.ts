import type { Sightings } from '../../core/feature.ts'
import type { Profile } from '../../core/profile.ts'
import type { ProfileSummary, SearchCriteria } from '../../core/summary.ts'
import type { ProfileArchive } from '../../core/store/profile-archive.ts'
import { perPageLimit } from '../../core/store/search.ts'
import { summariseExceptions } from '../exceptions/exceptions.ts'

type Source = Pick<ProfileArchive, 'search'>

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
  const { exception } = summariseExceptions(profile)
  if (exception === null) return null
  const criteria = { exception: exceptionWords(exception) }
  const { profiles, total } = await archive.search({ ...criteria, sort: 'oldest', perPage: 1 })
  const [first] = profiles
  return first === undefined || total < 2 ? null : { count: total, since: first.time, criteria }
}

/** The search for the requests of a profile's route. */
export function ofRoute({ method, routing }: Profile): SearchCriteria {
  return { method, route: `=${routing.matched?.url ?? ''}` }
}
