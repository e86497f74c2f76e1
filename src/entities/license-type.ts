import type { Kysely } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { licenseTypes } from '../records/license-type.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { Segment } from '../cache/segment.ts'
import type { Store } from '../cache/store.ts'

export type LicenseType = Readonly<RecordOf<typeof licenseTypes>>

const metadata = { table: 'license_types', columns: ['id', 'type'], key: 'id', joins: [] } as const

export function licenseTypesById(db: Kysely<Tables>, store: Store): Segment<LicenseType | null> {
  const query = prepareQuery(db, id => db.selectFrom('license_types').select(metadata.columns).where('id', '=', id))
  return store.segment(metadata, async id => {
    const [type] = await query(id)
    return type === undefined ? null : Object.freeze(type)
  })
}
