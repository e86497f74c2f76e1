import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

export interface Group {
  readonly id: string
  readonly name: string
}

const metadata = { table: 'groups', columns: ['id', 'name'], key: 'license_id', joins: [] } as const

/** The groups whose users may enter a protected license's site. */
export function groupsByLicense (db: Kysely<Tables>, store: Store): Segment<readonly Group[]> {
  return store.segment(metadata, async licenseId => Object.freeze(await db
    .selectFrom('groups')
    .select(metadata.columns)
    .where('license_id', '=', licenseId)
    .orderBy('id')
    .execute()))
}
