import { type Kysely, type RawBuilder, sql } from 'kysely'
import { seeds } from '../database/seeds/index.ts'
import type { Tables } from '../database/tables.ts'
import type { Column, KeptTable } from './kept-tables.ts'
import { readReferringTables } from './referring-tables.ts'
import { RestoreRefusedError } from './restore-refused.ts'

/** More records than a table has of the demonstration. */
const mostSeeded = 100

/** The lines of the audit that the command "seed" does not write. */
const notSeeded = sql`action <> 'add'`

interface Sample {
  table: string
  record: string
}

/**
 * Removes the demonstration records, if there are only these and nobody has changed them.
 * @throws {RestoreRefusedError} if there are other records, rows of other tables that refer to records, or lines of the
 * audit that say what was done to them
 */
export async function emptyDatabase(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<void> {
  const referring = await readReferringTables(db, tables)
  if (referring.length > 0) throw notEmpty(referring)
  const found = await readSamples(db, tables)
  const isMore = tables.some(({ name }) => found.filter(({ table }) => table === name).length > mostSeeded)
  const isEmpty = found.length === 0
  if (!isEmpty && (isMore || JSON.stringify(found) !== JSON.stringify(await seedAgain(db, tables)))) {
    throw notEmpty(found.map(({ table }) => table))
  }
  await removeAll(db, tables)
}

function notEmpty(tables: readonly string[]): RestoreRefusedError {
  const names = new Set(tables.map(table => table.replaceAll('_', ' ')))
  return new RestoreRefusedError(undefined, `The database is not empty: it has ${[...names].join(', ')}.`)
}

/** Replaces all records by those of the demonstration. */
async function seedAgain(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<Sample[]> {
  await removeAll(db, tables)
  for (const { sequence } of tables.flatMap(({ columns }) => columns)) {
    if (sequence !== null) await sql`alter sequence ${sql.raw(sequence)} restart`.execute(db)
  }
  for (const { up } of Object.values(seeds)) await up(db)
  return await readSamples(db, tables)
}

async function removeAll(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<void> {
  // Not truncated, because that would lock readers out.
  for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(db)
}

async function readSamples(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const { name, columns, key } of tables) {
    const { rows } = await sql<{ record: string }>`
      select to_json(records)::text as record
      from (
        select ${sql.join(columns.map(comparable))} from ${sql.table(name)}
        where ${name === 'audit' ? notSeeded : sql`true`}
        order by ${sql.join(key.map(column => sql.ref(column)))} limit ${mostSeeded + 1}
      ) as records`.execute(db)
    samples.push(...rows.map(({ record }) => ({ table: name, record })))
  }
  return samples
}

/** The demonstration has other times in each database. */
function comparable({ name, type }: Column): RawBuilder<unknown> {
  const column = sql.ref(name)
  return type === 'timestamp with time zone' ? sql`${column} is not null as ${sql.id(name)}` : column
}
