import type { Kysely } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { platforms } from '../records/platform.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

export type Platform = Readonly<Pick<RecordOf<typeof platforms>, 'id' | 'name'>>

const metadata = {
  table: 'license_platforms',
  columns: ['id', 'name'],
  key: 'license_id',
  joins: ['platforms'],
} as const

/** The platforms that a license is served on, by name. */
export function platformsByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Platform[]> {
  const query = prepareQuery(db, licenseId =>
    db
      .selectFrom('license_platforms')
      .innerJoin('platforms', 'platforms.id', 'license_platforms.platform_id')
      .select(metadata.columns)
      .where('license_id', '=', licenseId)
      .orderBy('name'),
  )
  return cache.segment(metadata, async licenseId => Object.freeze(await query(licenseId)))
}
