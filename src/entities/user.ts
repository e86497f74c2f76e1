import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fingerprintOf } from '../sign-in/fingerprint.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

/** A user who can sign in. */
export interface UserRecord {
  readonly id: string
  readonly email: string
  /** Whether the user may enter every protected site. */
  readonly admin: boolean
  /** The fingerprint of the password hash. The hash itself is not cached. */
  readonly fingerprint: string
}

const metadata = { table: 'users', columns: ['id', 'email', 'admin', 'password_hash'], key: 'id', joins: [] } as const

export function usersById(db: Kysely<Tables>, cache: EntityCache): EntitySegment<UserRecord | null> {
  return cache.segment(metadata, async id => {
    const user = await db.selectFrom('users').select(metadata.columns).where('id', '=', id).executeTakeFirst()
    if (user === undefined) return null
    const { password_hash: passwordHash, ...record } = user
    return Object.freeze({ ...record, fingerprint: fingerprintOf(passwordHash) })
  })
}
