import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'

/** What PostgreSQL's text and a person's address have in common: no blanks, no control characters, one @ and something around it. */
export const emailPattern = '^[^\\s\\p{Cc}@]+@[^\\s\\p{Cc}@]+$'
export const longestEmail = 254

const email = new RegExp(emailPattern, 'u')

/** Whether somebody can sign in with this. */
export function isEmail (text: string): boolean {
  return text.length <= longestEmail && email.test(text)
}

/** What signing in needs to know of a user. */
export interface Account {
  id: string
  password_hash: string
}

/** The user with an e-mail address, in capitals or not. Read anew each time: what nobody signed in with is not worth holding. */
export async function findAccount (db: Kysely<Tables>, email: string): Promise<Account | undefined> {
  return await db.selectFrom('users').select(['id', 'password_hash']).where(sql`lower(email)`, '=', sql`lower(${email})`).executeTakeFirst()
}

/** Has a session's cookies hold no longer, and forgets those that are out of date by themselves. */
export async function endSession (db: Kysely<Tables>, session: string, expires: Date): Promise<void> {
  await db.deleteFrom('ended_sessions').where('expires_at', '<', new Date()).execute()
  await db.insertInto('ended_sessions').values({ session, expires_at: expires }).onConflict(conflict => conflict.doNothing()).execute()
}
