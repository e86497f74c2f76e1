import { type Kysely, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { EntityCache, EntityMetadata } from './cache/entity-cache.ts'
import { inSerialBatches } from './database/serial-batches.ts'
import type { Tables } from './database/tables.ts'
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
  /** The languages of a license, the default first. */
  const languages = segment(
    { table: 'license_languages', columns: ['id', 'code', 'name'], key: 'license_id', joins: ['languages'] },
    async (licenseId, columns): Promise<readonly Language[]> =>
      await db
        .selectFrom('license_languages')
        .innerJoin('languages', 'languages.id', 'license_languages.language_id')
        .select(columns)
        .where('license_id', '=', licenseId)
        .orderBy('position')
        .execute(),
  )
  const loadLicense = licenseLoader(db)
  const loadToken = tokenLoader(db)
  return {
    /**
     * Licenses by domain. If several have the same domain, the lowest id wins. A license without a type is not found.
     * The query also loads the license's languages, so that a host's first request waits for one query only.
     */
    licenses: segment(
      { table: 'licenses', columns: ['licenses.*', 'type'], key: 'domain', joins: ['license_types'] },
      async (domain): Promise<License | null> => {
        if (!possible.test(domain)) return null
        const keepLanguages = languages.expect()
        const found = await loadLicense(domain)
        if (found === undefined) return null
        const { languages: inOrder, ...license } = found
        keepLanguages(license.id, Object.freeze(inOrder))
        return license
      },
    ),
    licenseTypes: segment(
      { table: 'license_types', columns: ['id', 'type'], key: 'id', joins: [] },
      async (id, columns): Promise<LicenseType | null> =>
        (await db.selectFrom('license_types').select(columns).where('id', '=', id).executeTakeFirst()) ?? null,
    ),
    languages,
    /** The first page of a license's museums by name, plus one more museum if there is a second page. */
    museums: segment(
      { table: 'museums', columns: ['id', 'name', 'url'], key: 'license_id', joins: [] },
      async (licenseId, columns): Promise<readonly Museum[]> =>
        await db
          .selectFrom('museums')
          .select(columns)
          .where('license_id', '=', licenseId)
          .orderBy(sortKey(sql.ref('name')))
          .orderBy('id')
          .limit(museumsOnPage + 1)
          .execute(),
    ),
    /** The platforms that a license is served on, by name. */
    platforms: segment(
      { table: 'license_platforms', columns: ['id', 'name'], key: 'license_id', joins: ['platforms'] },
      async (licenseId, columns): Promise<readonly Platform[]> =>
        await db
          .selectFrom('license_platforms')
          .innerJoin('platforms', 'platforms.id', 'license_platforms.platform_id')
          .select(columns)
          .where('license_id', '=', licenseId)
          .orderBy(sortKey(sql.ref('platforms.name')))
          .execute(),
    ),
    /** The groups whose users may enter a protected license's site. */
    groups: segment(
      { table: 'groups', columns: ['id', 'name'], key: 'license_id', joins: [] },
      async (licenseId, columns): Promise<readonly Group[]> =>
        await db.selectFrom('groups').select(columns).where('license_id', '=', licenseId).orderBy('id').execute(),
    ),
    users: segment(
      { table: 'users', columns: ['id', 'email', 'admin', 'password_hash'], key: 'id', joins: [] },
      async (id, columns): Promise<UserRecord | null> => {
        const user = await db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst()
        if (user === undefined) return null
        const { password_hash: passwordHash, ...record } = user
        return { ...record, fingerprint: fingerprintOf(passwordHash) }
      },
    ),
    /** The groups of a user across all licenses. */
    memberships: segment(
      { table: 'user_groups', columns: ['id', 'name', 'license_id'], key: 'user_id', joins: ['groups'] },
      async (userId, columns): Promise<readonly Membership[]> =>
        await db
          .selectFrom('user_groups')
          .innerJoin('groups', 'groups.id', 'user_groups.group_id')
          .select(columns)
          .where('user_id', '=', userId)
          .orderBy('id')
          .execute(),
    ),
    /** Whether a session has been signed out of, so that a copied cookie is no longer accepted. */
    endedSessions: segment(
      { table: 'ended_sessions', columns: ['session'], key: 'session', joins: [] },
      async (session, columns) => {
        const found = await db.selectFrom('ended_sessions').select(columns).where('session', '=', session).execute()
        return found.length > 0
      },
    ),
    /** API tokens by their hash. */
    apiTokens: segment(
      {
        table: 'api_tokens',
        columns: ['id', 'user_id', 'name', 'hash', 'read_only', 'last_used_at', 'expires_at'],
        key: 'hash',
        joins: [],
      },
      async (hash): Promise<ApiToken | null> => (await loadToken(hash)) ?? null,
    ),
  }

  /** Frozen, because all requests share what is cached. */
  function segment<const Columns extends readonly string[], Value>(
    metadata: EntityMetadata & { columns: Columns },
    load: (key: string, columns: Columns) => Promise<Value>,
  ) {
    return cache.segment(metadata, async key => Object.freeze(await load(key, metadata.columns)))
  }
}

/** The right to serve one domain, with the label of its license type (interface specification, "License"). */
export type License = Row<'licenses'> & { readonly type: string }

/** Length of the column licenses.domain. A longer host has no license. */
export const longestDomain = 255

/**
 * The column's check constraint without the length (migration 0001). Other text, such as a NUL character, could fail
 * the query for all hosts of its batch.
 */
const possible = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/

/** Loads the first license of a domain with its languages. A flood of made-up hosts takes one query at a time. */
function licenseLoader(db: Kysely<Tables>) {
  return inSerialBatches(async domains => {
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
}

type Row<Table extends keyof Tables> = Readonly<Selectable<Tables[Table]>>

export type LicenseType = Row<'license_types'>

/** The code is a BCP 47 language tag. */
export type Language = Row<'languages'>

export type Museum = Pick<Row<'museums'>, 'id' | 'name' | 'url'>

/** How many museums a page shows. */
export const museumsOnPage = 100

export type Platform = Row<'platforms'>

export type Group = Pick<Row<'groups'>, 'id' | 'name'>

/** A user who can sign in, with the fingerprint of the password hash. The hash itself is not cached. */
export type UserRecord = Pick<Row<'users'>, 'id' | 'email' | 'admin'> & { readonly fingerprint: string }

/** A group that a user belongs to, and the license whose site it may enter. */
export type Membership = Row<'groups'>

/** What a script signs in with. */
export interface ApiToken extends Pick<Row<'api_tokens'>, 'id' | 'user_id' | 'name' | 'hash' | 'read_only'> {
  /** The hour of its last request, in milliseconds since 1970. Null if there was none. */
  readonly last_used_at: number | null
  /** In milliseconds since 1970. Null if it never ends. */
  readonly expires_at: number | null
}

/** Loads API tokens. A flood of made-up tokens takes one query at a time, as one of hosts does. */
function tokenLoader(db: Kysely<Tables>) {
  return inSerialBatches(async hashes => {
    const tokens = await db
      .selectFrom('api_tokens')
      .select(['id', 'user_id', 'name', 'hash', 'read_only'])
      .select([milliseconds('last_used_at').as('last_used_at'), milliseconds('expires_at').as('expires_at')])
      .where('hash', '=', sql<string>`any(${hashes}::text[])`)
      .execute()
    return new Map(tokens.map(token => [token.hash, token]))
  })
}

/** A time in milliseconds since 1970. It may be infinite, which a Date cannot be. */
function milliseconds(column: string) {
  return sql<number | null>`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`
}
