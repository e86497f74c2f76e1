import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fingerprintOf } from '../sign-in/fingerprint.ts'
import type { Segment } from '../cache/segment.ts'
import type { Store } from '../cache/store.ts'

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

export function usersById(db: Kysely<Tables>, store: Store): Segment<UserRecord | null> {
  return store.segment(metadata, async id => {
    const user = await db.selectFrom('users').select(metadata.columns).where('id', '=', id).executeTakeFirst()
    if (user === undefined) return null
    const { password_hash: passwordHash, ...record } = user
    return Object.freeze({ ...record, fingerprint: fingerprintOf(passwordHash) })
  })
}
