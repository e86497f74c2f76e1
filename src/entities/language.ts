import type { Kysely } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { languages } from '../records/language.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

/** The code is a BCP 47 language tag. */
export type Language = Readonly<RecordOf<typeof languages>>

const metadata = {
  table: 'license_languages',
  columns: ['id', 'code', 'name'],
  key: 'license_id',
  joins: ['languages'],
} as const

/** The languages of a license, the default first. */
export function languagesByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Language[]> {
  const query = prepareQuery(db, licenseId =>
    db
      .selectFrom('license_languages')
      .innerJoin('languages', 'languages.id', 'license_languages.language_id')
      .select(metadata.columns)
      .where('license_id', '=', licenseId)
      .orderBy('position'),
  )
  return cache.segment(metadata, async licenseId => Object.freeze(await query(licenseId)))
}
