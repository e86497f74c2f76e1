import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import type { Account } from '../sign-in/account.ts'
import type { Author } from './author.ts'
import { changeRecordWithin } from './repository.ts'
import { users } from './user.ts'
import { validator } from './validation.ts'

const validate = validator(Type.Pick(users.create, ['password']))

/** Whether a text can be a user's password. */
export function isPassword(password: string): boolean {
  return validate({ password }).length === 0
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
    await changeRecordWithin(transaction, authorOf(id, current.email), users, id, { password }, prepared, () => {})
    return String(prepared['password_hash'])
  })
}

/** Users who change their own password, signed in or by a link. */
function authorOf(id: string, email: string): Author {
  return { via: 'api', user: { id, email }, tokenId: null, systemUser: null }
}
