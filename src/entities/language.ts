import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { prepareQuery } from '../database/prepared-queries.ts'
import type { Tables } from '../database/tables.ts'
import type { languages } from '../records/language.ts'
import type { RecordOf } from '../records/record-kind.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

/** Its code is a BCP 47 language tag. */
export type Language = Readonly<RecordOf<typeof languages>>

const metadata = { table: 'license_languages', columns: ['id', 'code', 'name'], key: 'license_id', joins: ['languages'] } as const

/** Sites are many, and most have the languages of another one: those are one list, for all that is made of it to be made once. */
const lists = new LRUCache<string, readonly Language[]>({ max: 1000 })

/** Reads the languages of a license from JSON text. */
export function parseLanguages (text: string): readonly Language[] {
  const known = lists.get(text)
  if (known !== undefined) return known
  // What is changed for one license would be so for the others.
  const list: readonly Language[] = JSON.parse(text, (_key, value: unknown) => Object.freeze(value))
  lists.set(text, list)
  return list
}

/** The languages of a license, its default first. */
export function languagesByLicense (db: Kysely<Tables>, store: Store): Segment<readonly Language[]> {
  const query = prepareQuery(db, licenseId => db
    .selectFrom('license_languages')
    .innerJoin('languages', 'languages.id', 'license_languages.language_id')
    .select(metadata.columns)
    .where('license_id', '=', licenseId)
    .orderBy('position'))
  return store.segment(metadata, async licenseId => parseLanguages(JSON.stringify(await query(licenseId))))
}
