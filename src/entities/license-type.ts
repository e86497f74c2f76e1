import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

export interface LicenseType {
  readonly id: string
  readonly type: string
}

const metadata = { table: 'license_types', columns: ['id', 'type'], key: 'id', joins: [] } as const

export function licenseTypesById (db: Kysely<Tables>, store: Store): Segment<LicenseType | null> {
  return store.segment(metadata, async id => {
    const type = await db.selectFrom('license_types').select(metadata.columns).where('id', '=', id).executeTakeFirst()
    return type === undefined ? null : Object.freeze(type)
  })
}
