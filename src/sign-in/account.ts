import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Store } from '../cache/store.ts'
import { lifetimeOf, type SessionToken } from './session-token.ts'

export const longestEmail = 254

/** What PostgreSQL's text and a person's address have in common: no blanks, no control characters, one @ and something around it. */
const address = /^[^\s\p{Cc}\p{Cs}@]+@[^\s\p{Cc}\p{Cs}@]+$/u

/** Whether somebody can sign in with this. */
export function isEmail(text: string): boolean {
  return text.length <= longestEmail && address.test(text)
}

/** An address as it is kept, of one that was typed: on another keyboard its characters may be composed otherwise. */
export function normaliseEmail(typed: string): string {
  return typed.trim().normalize()
}

/** What signing in needs to know of a user. */
export interface Account {
  id: string
  password_hash: string
}

/** The user with an e-mail address, in capitals or not. Read anew each time: what nobody signed in with is not worth holding. */
export async function findAccount(db: Kysely<Tables>, email: string): Promise<Account | undefined> {
  return await db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst()
}

/**
 * Has a session's cookies hold no longer, and forgets those that are out of date by themselves. The database tells every
 * instance of it; the store of this one must not answer its next request before it has heard.
 */
export async function endSession(db: Kysely<Tables>, store: Store, token: SessionToken): Promise<void> {
  const { session } = token
  await db.deleteFrom('ended_sessions').where('expires_at', '<', new Date()).execute()
  await db
    .insertInto('ended_sessions')
    .values({ session, expires_at: new Date(Date.now() + lifetimeOf(token)) })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  store.change('ended_sessions', session)
}
