import type { EntityCache } from '../../src/cache/entity-cache.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import type { AnyRecord } from '../../src/records/repository.ts'

/**
 * Tells this server's cache of changed records, as the database's notification will (migration 0002). The next request
 * may arrive first.
 */
export function forgetRecords(
  cache: EntityCache,
  { table, cacheKey, links }: RecordKind,
  ...records: AnyRecord[]
): void {
  for (const record of records) {
    cache.change(table, cacheKey === null ? null : String(record[cacheKey]))
    for (const link of Object.values(links)) cache.change(link.table, record.id)
  }
}
