import type { Kysely } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { licenseTypes } from '../records/license-type.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

export type LicenseType = Readonly<RecordOf<typeof licenseTypes>>

const metadata = { table: 'license_types', columns: ['id', 'type'], key: 'id', joins: [] } as const

export function licenseTypesById(db: Kysely<Tables>, cache: EntityCache): EntitySegment<LicenseType | null> {
  const query = prepareQuery(db, id => db.selectFrom('license_types').select(metadata.columns).where('id', '=', id))
  return cache.segment(metadata, async id => {
    const [type] = await query(id)
    return type === undefined ? null : Object.freeze(type)
  })
}
