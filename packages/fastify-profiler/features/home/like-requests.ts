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

/** The search for an exception: its class and line, or without a line its class and message up to the first number. */
export function ofException({ exception, thrownAt }: Pick<ProfileSummary, 'exception' | 'thrownAt'>): SearchCriteria {
  const text = exception ?? ''
  if (thrownAt !== undefined) return { exception: text.replace(/(?<=:).*/s, ''), text: thrownAt }
  return { exception: text.replace(/\d.*/s, '').trim() }
}

/** The stored requests with the exception of a profile; null if there is no other. */
export async function sightingsOf(archive: Source, profile: Profile): Promise<Sightings | null> {
  const summary = summariseExceptions(profile)
  if (summary.exception === null) return null
  const criteria = ofException(summary)
  const { profiles, total } = await archive.search({ ...criteria, sort: 'oldest', perPage: 1 })
  const [first] = profiles
  return first === undefined || total < 2 ? null : { count: total, since: first.time, criteria }
}

/** The search for the requests of a profile's route. */
export function ofRoute({ method, routing }: Profile): SearchCriteria {
  return { method, route: `=${routing.matched?.url ?? ''}` }
}
