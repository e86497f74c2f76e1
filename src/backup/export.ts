import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { type MigrationSeries, newerOf, readAppliedMigrations } from '../database/migrate.ts'
import type { Tables } from '../database/tables.ts'
import type { RecordKind } from '../records/record-kind.ts'
import {
  type Column,
  formatName,
  formatVersion,
  type KeptTable,
  lineOf,
  longestLine,
  readKeptTables,
  sequencesOf,
} from './format.ts'

const recordsPerQuery = 2000

/** The export cannot be restored, so it is not finished. */
export class ExportRefusedError extends Error {
  override readonly name = 'ExportRefusedError'
}

/**
 * Exports everything that the application keeps, as of one moment, in constant memory.
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

async function readMigrations(db: Kysely<Tables>, allSeries: readonly MigrationSeries[]): Promise<string[]> {
  const names: string[] = []
  for (const series of allSeries) {
    const applied = await readAppliedMigrations(db, series.table)
    const newer = newerOf(series, applied).at(-1)
    // A newer version may have tables that this one would leave out.
    if (newer !== undefined) {
      throw new ExportRefusedError(
        `The database has the migration ${newer.name} of a newer version. Export it with that.`,
      )
    }
    const last = applied.at(-1)
    if (last !== undefined) names.push(last.name)
  }
  return names
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

/**
 * Selects a table's records as JSON in the order of its key. A bigint becomes text, because a JavaScript number holds
 * only 53 bits.
 */
function selectRecords({ name, columns, key }: KeptTable): RawBuilder<{ record: string }> {
  const order = sql.join(key.map(column => sql.ref(`kept.${column}`)))
  return sql`
    select to_json(records)::text as record
    from (select ${sql.join(columns.map(readable))} from ${sql.table(name)} as kept order by ${order}) as records`
}

function readable({ name, type }: Column): RawBuilder<unknown> {
  const column = sql.ref(`kept.${name}`)
  return type === 'bigint' ? sql`${column}::text as ${sql.id(name)}` : column
}

async function countRecords(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<number> {
  const counts = tables.map(({ name }) => sql`(select count(*) from ${sql.table(name)})`)
  const { rows } = await sql<{ count: string }>`select ${sql.join(counts, sql` + `)} as count`.execute(db)
  return Number(rows[0]?.count)
}

async function readNextIds(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<Record<string, string>> {
  const nextIds: Record<string, string> = {}
  for (const { table, name } of sequencesOf(tables)) {
    const { rows } = await sql<{ next: string }>`
      select case when is_called then last_value + 1 else last_value end as next from ${sql.raw(name)}`.execute(db)
    const [row] = rows
    if (row !== undefined) nextIds[table] = row.next
  }
  return nextIds
}
