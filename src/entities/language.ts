import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

export interface Language {
  readonly id: string
  /** A BCP 47 language tag. */
  readonly code: string
  readonly name: string
}

const metadata = { table: 'license_languages', columns: ['id', 'code', 'name'], key: 'license_id', joins: ['languages'] } as const

/** The languages of a license, its default first. */
export function languagesByLicense (db: Kysely<Tables>, store: Store): Segment<readonly Language[]> {
  return store.segment(metadata, async licenseId => Object.freeze(await db
    .selectFrom('license_languages')
    .innerJoin('languages', 'languages.id', 'license_languages.language_id')
    .select(metadata.columns)
    .where('license_id', '=', licenseId)
    .orderBy('position')
    .execute()))
}
