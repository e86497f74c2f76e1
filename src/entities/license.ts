import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../store/segment.ts'
import type { Store } from '../store/store.ts'

/** The right to serve one domain, with the label of its license type (interface specification, "License"). */
export interface License {
  readonly id: string
  readonly domain: string
  readonly name: string
  readonly protected: boolean
  readonly created_at: Date
  readonly updated_at: Date
  readonly type_id: string | null
  readonly type: string
}

const metadata = {
  table: 'licenses',
  columns: ['licenses.id', 'domain', 'name', 'protected', 'created_at', 'updated_at', 'type_id', 'type'],
  key: 'domain',
  joins: ['license_types']
} as const

/** Licenses by their domain: of several with one domain that of the lowest id, and none without a license type. */
export function licensesByDomain (db: Kysely<Tables>, store: Store): Segment<License | null> {
  return store.segment(metadata, async domain => {
    const license = await db
      .selectFrom('licenses')
      .innerJoin('license_types', 'license_types.id', 'licenses.type_id')
      .select(metadata.columns)
      .where('domain', '=', domain)
      .orderBy('licenses.id')
      .limit(1)
      .executeTakeFirst()
    return license === undefined ? null : Object.freeze(license)
  })
}
