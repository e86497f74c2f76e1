import type { Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'

/** Why a site is closed to everybody but admins. */
export type Closure = { reason: 'asleep'; until: Date } | { reason: 'suspended' } | { reason: 'ended'; since: Date }

type Validity = Pick<Selectable<Tables['licenses']>, 'valid_from' | 'valid_until' | 'suspended'>

/**
 * Why the site of a license is closed, or null if it is open. A license is valid from valid_from, and no longer at
 * valid_until.
 * @param now in milliseconds since 1970
 */
export function closureOf({ valid_from: from, valid_until: until, suspended }: Validity, now: number): Closure | null {
  if (until !== null && until.getTime() <= now) return { reason: 'ended', since: until }
  if (suspended) return { reason: 'suspended' }
  return from !== null && now < from.getTime() ? { reason: 'asleep', until: from } : null
}
