import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fingerprintOf } from '../sign-in/fingerprint.ts'
import type { Segment } from '../cache/segment.ts'
import type { Store } from '../cache/store.ts'

/** Somebody who can sign in. */
export interface UserRecord {
  readonly id: string
  readonly email: string
  /** Whether every protected site lets them in. */
  readonly admin: boolean
  /** Of the password's hash, which itself is not held. */
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
