import type { Kysely } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { groups } from '../records/group.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

export type Group = Readonly<Pick<RecordOf<typeof groups>, 'id' | 'name'>>

const metadata = { table: 'groups', columns: ['id', 'name'], key: 'license_id', joins: [] } as const

/** The groups whose users may enter a protected license's site. */
export function groupsByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Group[]> {
  const query = prepareQuery(db, licenseId =>
    db.selectFrom('groups').select(metadata.columns).where('license_id', '=', licenseId).orderBy('id'),
  )
  return cache.segment(metadata, async licenseId => Object.freeze(await query(licenseId)))
}
