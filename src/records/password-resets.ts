import { type Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import { type Author, passwordResets, writeAdditions, writeRemovals } from './audit.ts'
import { users } from './kinds.ts'
import { changeRecordWithin, missingRecord } from './repository.ts'
import { guard } from './validation.ts'
import type { Account } from '../sign-in/account.ts'
import { fingerprintOf } from '../sign-in/fingerprint.ts'
import { hashOfToken, makeToken } from '../sign-in/random-token.ts'

const isFit = guard(Type.Pick(users.create, ['password']))

export function isPassword(password: string): boolean {
  return isFit({ password })
}

/**
 * Changes the password of a user, unless somebody else has changed it meanwhile.
 * @param account with the hash of the password that the change was allowed by
 * @param isAllowed called within the transaction
 * @returns the new hash, or null if the password has changed or the change is not allowed
 */
export async function replacePassword(
  db: Kysely<Tables>,
  { id, password_hash: known }: Account,
  password: string,
  isAllowed: (transaction: Kysely<Tables>, author: Author) => Promise<boolean> = async () => true,
): Promise<string | null> {
  // Before the transaction, because hashing a password takes long.
  const prepared = await users.prepare({ password })
  return await db.transaction().execute(async transaction => {
    const current = await transaction
      .selectFrom('users')
      .select(['email', 'password_hash'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (current?.password_hash !== known || !(await isAllowed(transaction, authorOf(id, current.email)))) return null
    await changeRecordWithin(transaction, authorOf(id, current.email), users, id, { password }, prepared)
    return String(prepared['password_hash'])
  })
}

function authorOf(id: string, email: string): Author {
  return { via: 'api', user: { id, email }, tokenId: null, systemUser: null }
}

/** How long a link works, in minutes. */
export const resetLifetime = 60

/**
 * Makes the token of a link by which a user chooses a new password. Ends the one before.
 * @throws {HttpError} if there is no such user
 */
export async function makeReset(db: Kysely<Tables>, author: Author, userId: string): Promise<string> {
  const { text, hash } = makeToken()
  const { password_hash: passwordHash } = await db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow(() => missingRecord(users, userId))
  const reset = {
    hash,
    fingerprint: fingerprintOf(passwordHash),
    expires_at: sql<Date>`now() + ${resetLifetime} * interval '1 minute'`,
  }
  await db.transaction().execute(async transaction => {
    await transaction
      .insertInto('password_resets')
      .values({ user_id: userId, ...reset })
      .onConflict(conflict => conflict.column('user_id').doUpdateSet(reset))
      .execute()
    await writeAdditions(transaction, author, passwordResets, sql`select ${userId}::bigint`)
  })
  return text
}

/** The user whose password a token changes, or undefined if it has been used, has expired or never existed. */
export async function findReset(db: Kysely<Tables>, token: string): Promise<Account | undefined> {
  const hash = hashOfToken(token)
  if (hash === null) return undefined
  const found = await db
    .selectFrom('password_resets')
    .innerJoin('users', 'users.id', 'user_id')
    .select(['users.id', 'password_hash', 'fingerprint'])
    .where('hash', '=', hash)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return found !== undefined && found.fingerprint === fingerprintOf(found.password_hash) ? found : undefined
}

/** Uses a token up and changes the password. @returns the id of the user, or undefined as findReset() does */
export async function useReset(db: Kysely<Tables>, token: string, password: string): Promise<string | undefined> {
  const account = await findReset(db, token)
  if (account === undefined) return undefined
  const changed = await replacePassword(db, account, password, async (transaction, author) => {
    const hash = hashOfToken(token)
    // A newer link may have replaced this one meanwhile.
    const locked = await transaction
      .selectFrom('password_resets')
      .select('user_id')
      .where('hash', '=', hash)
      .forUpdate()
      .execute()
    for (const { user_id: id } of locked) await writeRemovals(transaction, author, [], passwordResets, id)
    await transaction.deleteFrom('password_resets').where('hash', '=', hash).execute()
    return locked.length > 0
  })
  return changed === null ? undefined : account.id
}
