import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

export interface Platform {
  readonly id: string
  readonly name: string
}

const metadata = { table: 'license_platforms', columns: ['id', 'name'], key: 'license_id', joins: ['platforms'] } as const

/** The platforms that a license is served on, by name. */
export function platformsByLicense (db: Kysely<Tables>, store: Store): Segment<readonly Platform[]> {
  return store.segment(metadata, async licenseId => Object.freeze(await db
    .selectFrom('license_platforms')
    .innerJoin('platforms', 'platforms.id', 'license_platforms.platform_id')
    .select(metadata.columns)
    .where('license_id', '=', licenseId)
    .orderBy('name')
    .execute()))
}
