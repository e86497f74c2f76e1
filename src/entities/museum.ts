import type { Kysely } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { museums } from '../records/museum.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

export type Museum = Readonly<Pick<RecordOf<typeof museums>, 'id' | 'name'>>

const metadata = { table: 'museums', columns: ['id', 'name'], key: 'license_id', joins: [] } as const

/** How many museums a page shows. */
export const museumsOnPage = 100

/** The first page of a license's museums by name, plus one more museum if there is a second page. */
export function museumsByLicense(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Museum[]> {
  const query = prepareQuery(db, licenseId =>
    db
      .selectFrom('museums')
      .select(metadata.columns)
      .where('license_id', '=', licenseId)
      .orderBy('name')
      .orderBy('id')
      .limit(museumsOnPage + 1),
  )
  return cache.segment(metadata, async licenseId => Object.freeze(await query(licenseId)))
}
