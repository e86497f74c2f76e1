import { type Kysely, type Selectable, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { EntityCache } from '../cache/entity-cache.ts'
import { lifetimeOf, type SessionToken } from './session-token.ts'

export const longestEmail = 254

/** One @ with text around it, without white space, control characters and lone surrogates, which PostgreSQL refuses. */
const address = /^[^\s\p{Cc}\p{Cs}@]+@[^\s\p{Cc}\p{Cs}@]+$/u

/** Whether a text can be the e-mail address of a user. */
export function isEmail(text: string): boolean {
  return text.length <= longestEmail && address.test(text)
}

/** Normalises a typed address (Unicode NFC), because keyboards compose characters differently. */
export function normaliseEmail(typed: string): string {
  return typed.trim().normalize()
}

/** The columns of a user that signing in needs. */
export type Account = Pick<Selectable<Tables['users']>, 'id' | 'password_hash'>

/** Finds the user with an e-mail address, ignoring case. Not cached, because each user signs in rarely. */
export async function findAccount(db: Kysely<Tables>, email: string): Promise<Account | undefined> {
  return await db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst()
}

/**
 * Ends a session, and deletes ended sessions whose cookies have expired, both by the database's clock. The database
 * notifies all servers. This server's entity cache is told at once, because its next request may arrive before the
 * notification.
 */
export async function endSession(db: Kysely<Tables>, cache: EntityCache, token: SessionToken): Promise<void> {
  const { session, expires } = token
  await db
    .deleteFrom('ended_sessions')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
  // The server that signed the cookie may have been ahead of the database.
  const expiresAt = sql<Date>`greatest(
    now() + ${lifetimeOf(token)} * interval '1 millisecond', to_timestamp(${expires / 1000}::float8))`
  await db
    .insertInto('ended_sessions')
    .values({ session, expires_at: expiresAt })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  cache.change('ended_sessions', session)
}
