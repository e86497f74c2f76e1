import { hash } from '@node-rs/argon2'
import type { Database } from '../../src/database/database.ts'

export interface LicenseRecord {
  domain: string
  name?: string
  protected?: boolean
  suspended?: boolean
  valid_from?: Date | null
  valid_until?: Date | null
  /** Null for a license whose type is missing. */
  type?: string | null
  /** Language tags, the default first. */
  languages?: string[]
  museums?: string[]
}

/** Adds a license and what belongs to it. @returns its id */
export async function addLicense(database: Database, record: LicenseRecord): Promise<string> {
  const { db } = database
  const { domain, name = 'Museum', type = 'standard', languages = [], museums = [] } = record
  const { suspended = false, valid_from: validFrom = null, valid_until: validUntil = null } = record
  const license = {
    domain,
    name,
    protected: record.protected ?? false,
    suspended,
    valid_from: validFrom,
    valid_until: validUntil,
    type_id: type === null ? null : await addLicenseType(database, type),
  }
  const { id } = await db.insertInto('licenses').values(license).returning('id').executeTakeFirstOrThrow()
  for (const [position, code] of languages.entries()) {
    await db
      .insertInto('license_languages')
      .values({ license_id: id, language_id: await addLanguage(database, code), position })
      .execute()
  }
  for (const museum of museums) await db.insertInto('museums').values({ license_id: id, name: museum }).execute()
  return id
}

/** Adds a license type unless its label exists. @returns its id */
export async function addLicenseType({ db }: Database, type: string): Promise<string> {
  const added = await db
    .insertInto('license_types')
    .values({ type })
    .onConflict(conflict => conflict.column('type').doUpdateSet({ type }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return added.id
}

/** Adds a language unless its tag exists. @returns its id */
export async function addLanguage({ db }: Database, code: string): Promise<string> {
  const language = { code, name: `Language ${code}` }
  const added = await db
    .insertInto('languages')
    .values(language)
    .onConflict(conflict => conflict.column('code').doUpdateSet(language))
    .returning('id')
    .executeTakeFirstOrThrow()
  return added.id
}

export interface UserRecord {
  email: string
  password?: string
  admin?: boolean
  /** License ids. The user joins a group of each. */
  licenses?: string[]
}

/** The password of every test user without one of their own. */
export const testPassword = 'correct horse battery'

/** Hashes a password so that it is verified in no time. A hash says itself what it costs. */
async function hashCheaply(password: string): Promise<string> {
  return await hash(password.normalize('NFKC'), { memoryCost: 8, timeCost: 1, parallelism: 1 })
}

/** Adds a user. @returns their id */
export async function addUser(
  { db }: Database,
  { email, password = testPassword, admin = false, licenses = [] }: UserRecord,
): Promise<string> {
  const { id } = await db
    .insertInto('users')
    .values({ email, password_hash: await hashCheaply(password), admin })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const license of licenses) {
    const group = await db
      .insertInto('groups')
      .values({ license_id: license, name: 'Staff' })
      .returning('id')
      .executeTakeFirstOrThrow()
    await db.insertInto('user_groups').values({ user_id: id, group_id: group.id }).execute()
  }
  return id
}
