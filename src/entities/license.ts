import { type Kysely, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { prepareQuery } from '../database/prepared-queries.ts'
import { inSerialBatches } from '../database/serial-batches.ts'
import type { Tables } from '../database/tables.ts'
import type { Validity } from '../records/closure.ts'
import type { licenses } from '../records/license.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { EntityMetadata, EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'
import type { Language } from './language.ts'

/** The right to serve one domain, with the label of its license type (interface specification, "License"). */
export interface License
  extends Readonly<Pick<RecordOf<typeof licenses>, 'id' | 'domain' | 'name' | 'protected' | 'type_id'>>, Validity {
  readonly created_at: Date
  readonly updated_at: Date
  readonly type: string
}

const metadata = {
  table: 'licenses',
  columns: [
    'id',
    'domain',
    'name',
    'protected',
    'suspended',
    'created_at',
    'updated_at',
    'valid_from',
    'valid_until',
    'type_id',
    'type',
  ],
  key: 'domain',
  joins: ['license_types'],
} as const satisfies EntityMetadata & { columns: readonly (keyof License)[] }

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
export function licensesByDomain(
  db: Kysely<Tables>,
  cache: EntityCache,
  languages: EntitySegment<readonly Language[]>,
): EntitySegment<License | null> {
  const query = prepareQuery(db, domains =>
    db
      // JSON, because PostgreSQL would replan a query with an array each time: it estimates custom plans to be cheaper.
      .selectFrom(sql<{ asked: string }>`json_array_elements_text(${domains}::json)`.as<'domains'>(sql`domains(asked)`))
      .innerJoinLateral(
        ({ selectFrom }) =>
          selectFrom('licenses')
            .innerJoin('license_types', 'license_types.id', 'licenses.type_id')
            .select([
              'domain',
              'name',
              'protected',
              'suspended',
              'type',
              milliseconds('created_at').as('created_at'),
              milliseconds('updated_at').as('updated_at'),
              milliseconds('valid_from').$castTo<number | null>().as('valid_from'),
              milliseconds('valid_until').$castTo<number | null>().as('valid_until'),
            ])
            .select(({ cast, selectFrom }) => [
              // JSON numbers would lose precision: JavaScript holds only 53 bits of a bigint.
              cast<string>('licenses.id', 'text').as('id'),
              cast<string>('type_id', 'text').as('type_id'),
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
      // One column, because pg parses each column of each result, which takes CPU time.
      .select(({ fn }) => fn.toJson('license').as('license')),
  )
  const load = inSerialBatches(async domains => {
    const rows = await query(JSON.stringify(domains))
    return new Map(rows.map(({ license }) => [license.domain, license]))
  })
  return cache.segment(metadata, async (domain): Promise<License | null> => {
    if (!possible.test(domain)) return null
    const keepLanguages = languages.expect()
    const row = await load(domain)
    if (row === undefined) return null
    keepLanguages(row.id, Object.freeze(row.languages))
    return Object.freeze({
      id: row.id,
      domain: row.domain,
      name: row.name,
      protected: row.protected,
      suspended: row.suspended,
      created_at: new Date(row.created_at),
      updated_at: new Date(row.updated_at),
      valid_from: row.valid_from === null ? null : new Date(row.valid_from),
      valid_until: row.valid_until === null ? null : new Date(row.valid_until),
      type_id: row.type_id,
      type: row.type,
    })
  })
}

/** A time in milliseconds since 1970. An infinite time arrives as text and becomes an invalid Date. */
function milliseconds(column: string) {
  return sql<number | string>`floor(extract(epoch from ${sql.ref(column)}) * 1000)`
}
