import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { MigrationSeries } from '../database/migration.ts'
import { newerOf, readAppliedMigrations } from '../database/newer-migrations.ts'
import type { Tables } from '../database/tables.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { formatName, formatVersion, lineOf, longestLine } from './backup-format.ts'
import { type KeptTable, readKeptTables } from './kept-tables.ts'
import { readNextIds } from './next-ids.ts'
import { countRecords, selectRecords } from './read-records.ts'

const recordsPerQuery = 2000

/** The export cannot be restored, so it is not finished. */
export class ExportRefusedError extends Error {
  override readonly name = 'ExportRefusedError'
}

/**
 * Exports everything that the application keeps, as of one moment, in constant memory.
 * @param ownKinds the kinds of records that an application adds to Portico's
 * @param onProgress called after each query with the progress from 0 to 1 and the number of records so far
 * @returns pieces of the export, each of one or more lines
 * @throws {ExportRefusedError} if the tables are newer than this program, or a record is too long to be restored
 */
export async function* exportRecords(
  { db, series }: Pick<Database, 'db' | 'series'>,
  ownKinds: readonly RecordKind[],
  onProgress: (part: number, records: number) => void,
): AsyncGenerator<string> {
  const snapshot = await db.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  try {
    await sql`set local time zone 'UTC'`.execute(snapshot)
    const [migration = '', siteMigration] = await readMigrations(snapshot, series)
    const tables = await readKeptTables(snapshot, ownKinds)
    const total = await countRecords(snapshot, tables)
    yield lineOf({
      format: formatName,
      version: formatVersion,
      migration,
      ...(siteMigration !== undefined && { site_migration: siteMigration }),
      time: new Date().toISOString(),
      tables: Object.fromEntries(tables.map(({ name, columns }) => [name, columns.map(({ name }) => name)])),
    })
    const counts: Record<string, number> = {}
    let read = 0
    for (const table of tables) {
      let count = 0
      for await (const records of fetchRecords(snapshot, table)) {
        yield records.map(record => recordLine(table, record)).join('')
        count += records.length
        onProgress((read + count) / total, read + count)
      }
      counts[table.name] = count
      read += count
    }
    yield lineOf({ counts, next_ids: await readNextIds(snapshot, tables) })
  } finally {
    await snapshot.rollback().execute()
  }
}

/** Reads the last migration of each series that has any. */
async function readMigrations(db: Kysely<Tables>, allSeries: readonly MigrationSeries[]): Promise<string[]> {
  const last: string[] = []
  for (const series of allSeries) {
    const applied = await readAppliedMigrations(db, series.table)
    const newer = newerOf(series, applied).at(-1)
    // A newer version may have tables that this one would leave out.
    if (newer !== undefined) {
      throw new ExportRefusedError(
        `The database has the migration ${newer.name} of a newer version. Export it with that.`,
      )
    }
    last.push(...applied.slice(-1).map(({ name }) => name))
  }
  return last
}

async function* fetchRecords(db: Kysely<Tables>, table: KeptTable): AsyncGenerator<string[]> {
  await sql`declare exported no scroll cursor for ${selectRecords(table)}`.execute(db)
  for (;;) {
    const { rows } = await sql<{ record: string }>`fetch ${sql.lit(recordsPerQuery)} from exported`.execute(db)
    if (rows.length === 0) break
    yield rows.map(({ record }) => record)
  }
  await sql`close exported`.execute(db)
}

function recordLine({ name }: KeptTable, record: string): string {
  const line = `{"table":"${name}","record":${record}}\n`
  if (Buffer.byteLength(line) > longestLine) {
    throw new ExportRefusedError(`A record of ${name} has more than ${longestLine.toLocaleString('en')} bytes.`)
  }
  return line
}
