import { type Kysely, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { EntityCache, EntityMetadata, EntitySegment } from './cache/entity-cache.ts'
import { inSerialBatches } from './database/serial-batches.ts'
import type { Tables } from './database/tables.ts'
import type { groups, languages, licenseTypes, museums, platforms } from './records/kinds.ts'
import type { RecordOf } from './records/record-kind.ts'
import { sortKey } from './records/selection.ts'
import { fingerprintOf } from './sign-in/fingerprint.ts'

type PorticoEntities = ReturnType<typeof createEntities>

/** An application that is built on Portico declares its own entities here. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- An interface, so that it can be merged
export interface Entities extends PorticoEntities {}

/** Makes the entities that an application has declared. */
export type MakeOwnEntities = (db: Kysely<Tables>, cache: EntityCache) => Omit<Entities, keyof PorticoEntities>

/** All entities, read through the cache: `entities.licenses.read(domain)`, `entities.museums.read(license.id)`. */
export function createEntities(db: Kysely<Tables>, cache: EntityCache) {
  const languages = languagesByLicense(db, cache)
  return {
    licenses: licensesByDomain(db, cache, languages),
    licenseTypes: licenseTypesById(db, cache),
    languages,
    museums: museumsByLicense(db, cache),
    platforms: platformsByLicense(db, cache),
    groups: groupsByLicense(db, cache),
    users: usersById(db, cache),
    memberships: membershipsByUser(db, cache),
    endedSessions: endedSessions(db, cache),
    apiTokens: apiTokensByHash(db, cache),
  }
}

/** The right to serve one domain, with the label of its license type (interface specification, "License"). */
export type License = Readonly<Selectable<Tables['licenses']>> & { readonly type: string }

const licenseMetadata = {
  table: 'licenses',
  columns: ['licenses.*', 'type'],
  key: 'domain',
  joins: ['license_types'],
} satisfies EntityMetadata

/** Length of the column licenses.domain. A longer host has no license. */
export const longestDomain = 255

/**
 * The column's check constraint without the length (migration 0001). Other text, such as a NUL character, could fail
 * the query for all hosts of its batch.
 */
const possible = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/

/**
 * Licenses by domain. If several have the same domain, the lowest id wins. A license without a type is not found. The
 * same query loads the license's languages, which every request needs next, so that a host's first request waits for
 * one query only.
 */
function licensesByDomain(
  db: Kysely<Tables>,
  cache: EntityCache,
  languages: EntitySegment<readonly Language[]>,
): EntitySegment<License | null> {
  const load = inSerialBatches(async domains => {
    const rows = await db
      .selectFrom(sql<{ asked: string }>`unnest(${domains}::text[])`.as<'domains'>(sql`domains(asked)`))
      .innerJoinLateral(
        ({ selectFrom }) =>
          selectFrom('licenses')
            .innerJoin('license_types', 'license_types.id', 'licenses.type_id')
            .selectAll('licenses')
            .select(({ selectFrom }) => [
              'type',
              jsonArrayFrom(
                selectFrom('license_languages')
                  .innerJoin('languages', 'languages.id', 'license_languages.language_id')
                  .select([({ cast }) => cast<string>('languages.id', 'text').as('id'), 'code', 'languages.name'])
                  .whereRef('license_id', '=', 'licenses.id')
                  .orderBy('position'),
              ).as('languages'),
            ])
            .whereRef('domain', '=', 'asked')
            .orderBy('licenses.id')
            .limit(1)
            .as('license'),
        join => join.onTrue(),
      )
      .selectAll('license')
      .execute()
    return new Map(rows.map(row => [row.domain, row]))
  })
  return cache.segment(licenseMetadata, async (domain): Promise<License | null> => {
    if (!possible.test(domain)) return null
    const keepLanguages = languages.expect()
    const found = await load(domain)
    if (found === undefined) return null
    const { languages: inOrder, ...license } = found
    keepLanguages(license.id, Object.freeze(inOrder))
    return Object.freeze(license)
  })
}

export type LicenseType = Readonly<RecordOf<typeof licenseTypes>>

const licenseTypeMetadata = { table: 'license_types', columns: ['id', 'type'], key: 'id', joins: [] } as const

function licenseTypesById(db: Kysely<Tables>, cache: EntityCache): EntitySegment<LicenseType | null> {
  return cache.segment(licenseTypeMetadata, async id => {
    const type = await db
      .selectFrom('license_types')
      .select(licenseTypeMetadata.columns)
      .where('id', '=', id)
      .executeTakeFirst()
    return type === undefined ? null : Object.freeze(type)
  })
}

/** The code is a BCP 47 language tag. */
export type Language = Readonly<RecordOf<typeof languages>>

const languageMetadata = {
  table: 'license_languages',
  columns: ['id', 'code', 'name'],
  key: 'license_id',
  joins: ['languages'],
} as const

/** The languages of a license, the default first. */
function languagesByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Language[]> {
  return cache.segment(languageMetadata, async licenseId =>
    Object.freeze(
      await db
        .selectFrom('license_languages')
        .innerJoin('languages', 'languages.id', 'license_languages.language_id')
        .select(languageMetadata.columns)
        .where('license_id', '=', licenseId)
        .orderBy('position')
        .execute(),
    ),
  )
}

export type Museum = Readonly<Pick<RecordOf<typeof museums>, 'id' | 'name' | 'url'>>

const museumMetadata = { table: 'museums', columns: ['id', 'name', 'url'], key: 'license_id', joins: [] } as const

/** How many museums a page shows. */
export const museumsOnPage = 100

/** The first page of a license's museums by name, plus one more museum if there is a second page. */
function museumsByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Museum[]> {
  return cache.segment(museumMetadata, async licenseId =>
    Object.freeze(
      await db
        .selectFrom('museums')
        .select(museumMetadata.columns)
        .where('license_id', '=', licenseId)
        .orderBy(sortKey(sql.ref('name')))
        .orderBy('id')
        .limit(museumsOnPage + 1)
        .execute(),
    ),
  )
}

export type Platform = Readonly<Pick<RecordOf<typeof platforms>, 'id' | 'name'>>

const platformMetadata = {
  table: 'license_platforms',
  columns: ['id', 'name'],
  key: 'license_id',
  joins: ['platforms'],
} as const

/** The platforms that a license is served on, by name. */
function platformsByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Platform[]> {
  return cache.segment(platformMetadata, async licenseId =>
    Object.freeze(
      await db
        .selectFrom('license_platforms')
        .innerJoin('platforms', 'platforms.id', 'license_platforms.platform_id')
        .select(platformMetadata.columns)
        .where('license_id', '=', licenseId)
        .orderBy(sortKey(sql.ref('platforms.name')))
        .execute(),
    ),
  )
}

export type Group = Readonly<Pick<RecordOf<typeof groups>, 'id' | 'name'>>

const groupMetadata = { table: 'groups', columns: ['id', 'name'], key: 'license_id', joins: [] } as const

/** The groups whose users may enter a protected license's site. */
function groupsByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Group[]> {
  return cache.segment(groupMetadata, async licenseId =>
    Object.freeze(
      await db
        .selectFrom('groups')
        .select(groupMetadata.columns)
        .where('license_id', '=', licenseId)
        .orderBy('id')
        .execute(),
    ),
  )
}

/** A user who can sign in. */
export interface UserRecord {
  readonly id: string
  readonly email: string
  /** Whether the user may enter every protected site. */
  readonly admin: boolean
  /** The fingerprint of the password hash. The hash itself is not cached. */
  readonly fingerprint: string
}

const userMetadata = {
  table: 'users',
  columns: ['id', 'email', 'admin', 'password_hash'],
  key: 'id',
  joins: [],
} as const

function usersById(db: Kysely<Tables>, cache: EntityCache): EntitySegment<UserRecord | null> {
  return cache.segment(userMetadata, async id => {
    const user = await db.selectFrom('users').select(userMetadata.columns).where('id', '=', id).executeTakeFirst()
    if (user === undefined) return null
    const { password_hash: passwordHash, ...record } = user
    return Object.freeze({ ...record, fingerprint: fingerprintOf(passwordHash) })
  })
}

/** A group that a user belongs to. */
export interface Membership {
  readonly id: string
  readonly name: string
  /** The license that the group belongs to, whose site it may enter. */
  readonly license_id: string
}

const membershipMetadata = {
  table: 'user_groups',
  columns: ['id', 'name', 'license_id'],
  key: 'user_id',
  joins: ['groups'],
} as const

/** The groups of a user across all licenses. */
function membershipsByUser(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Membership[]> {
  return cache.segment(membershipMetadata, async userId =>
    Object.freeze(
      await db
        .selectFrom('user_groups')
        .innerJoin('groups', 'groups.id', 'user_groups.group_id')
        .select(membershipMetadata.columns)
        .where('user_id', '=', userId)
        .orderBy('id')
        .execute(),
    ),
  )
}

const endedSessionMetadata = { table: 'ended_sessions', columns: ['session'], key: 'session', joins: [] } as const

/** Whether a session has been signed out of, so that a copied cookie is no longer accepted. */
function endedSessions(db: Kysely<Tables>, cache: EntityCache): EntitySegment<boolean> {
  return cache.segment(
    endedSessionMetadata,
    async session =>
      (await db
        .selectFrom('ended_sessions')
        .select(endedSessionMetadata.columns)
        .where('session', '=', session)
        .executeTakeFirst()) !== undefined,
  )
}

/** What a script signs in with. Times are in milliseconds since 1970. */
export interface ApiToken {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly hash: string
  /** Whether it may only make safe requests. */
  readonly read_only: boolean
  /** The hour of its last request. Null if there was none. */
  readonly last_used_at: number | null
  /** Null if it never ends. */
  readonly expires_at: number | null
}

const apiTokenMetadata = {
  table: 'api_tokens',
  columns: ['id', 'user_id', 'name', 'hash', 'read_only', 'last_used_at', 'expires_at'],
  key: 'hash',
  joins: [],
} as const satisfies EntityMetadata & { columns: readonly (keyof ApiToken)[] }

/** API tokens by their hash. A flood of made-up tokens takes one query at a time, as one of hosts does. */
function apiTokensByHash(db: Kysely<Tables>, cache: EntityCache): EntitySegment<ApiToken | null> {
  const load = inSerialBatches(async hashes => {
    const tokens = await db
      .selectFrom(sql<{ asked: string }>`unnest(${hashes}::text[])`.as<'hashes'>(sql`hashes(asked)`))
      .innerJoin('api_tokens', 'hash', 'asked')
      .select(['id', 'user_id', 'name', 'hash', 'read_only'])
      .select([milliseconds('last_used_at').as('last_used_at'), milliseconds('expires_at').as('expires_at')])
      .execute()
    return new Map(tokens.map(token => [token.hash, Object.freeze(token)]))
  })
  return cache.segment(apiTokenMetadata, async (hash): Promise<ApiToken | null> => (await load(hash)) ?? null)
}

/** A time in milliseconds since 1970. It may be infinite, which a Date cannot be. */
function milliseconds(column: string) {
  return sql<number | null>`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`
}
