import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

export interface Museum {
  readonly id: string
  readonly name: string
}

const metadata = { table: 'museums', columns: ['id', 'name'], key: 'license_id', joins: [] } as const

/** The museums of a license, by name. */
export function museumsByLicense (db: Kysely<Tables>, store: Store): Segment<readonly Museum[]> {
  return store.segment(metadata, async licenseId => Object.freeze(await db
    .selectFrom('museums')
    .select(metadata.columns)
    .where('license_id', '=', licenseId)
    .orderBy('name')
    .orderBy('id')
    .execute()))
}
