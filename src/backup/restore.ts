import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../database/database.ts'
import { migrationTable, type MigrationSeries, seedTable } from '../database/migrate.ts'
import type { Tables } from '../database/tables.ts'
import { writeInHalves } from '../database/write-in-halves.ts'
import { type Line, linesOf } from '../byte-lines.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { quote } from '../records/validation.ts'
import {
  type Ending,
  flawOf,
  formatVersion,
  isEnding,
  isHeader,
  isOurs,
  isRecordLine,
  type KeptTable,
  longestLine,
  parseLine,
  readKeptTables,
  type RecordLine,
  RestoreRefusedError,
  sequencesOf,
  tablesOfPortico,
} from './format.ts'

const rowsPerInsert = 5000
/** In characters. Bounds the memory that long records cost. */
const longestInsert = 4 * 1024 * 1024
/** In lines. */
const longestBanner = 10

/**
 * Restores an export into an empty database, all or nothing, in constant memory. The demonstration records count as
 * nothing unless somebody changed them. The triggers of the tables tell running servers.
 * @param onProgress called after each INSERT with the number of records so far
 * @returns the number of records
 * @throws {RestoreRefusedError} if the database is not empty, or the export is damaged or of another program or version
 */
export async function restoreRecords(
  { db, series }: Pick<Database, 'db' | 'series'>,
  ownKinds: readonly RecordKind[],
  input: AsyncIterable<Buffer | string>,
  onProgress: (records: number) => void,
): Promise<number> {
  const lines = linesOf(input, longestLine)
  try {
    // Read first: the transaction makes writers wait, and an embedded database everybody.
    const first = await skipBanner(lines)
    return await db.transaction().execute(async transaction => {
      const tables = await readKeptTables(transaction, ownKinds)
      // Others may read meanwhile, and write after it.
      const names = sql.join(tables.map(({ name }) => sql.table(name)))
      await sql`lock table ${names} in share row exclusive mode`.execute(transaction)
      await emptyDatabase(transaction, tables)
      return await restoreLines(transaction, series, tables, first, lines, onProgress)
    })
  } finally {
    await lines.return(undefined)
  }
}

async function restoreLines(
  db: Kysely<Tables>,
  series: readonly MigrationSeries[],
  tables: readonly KeptTable[],
  first: Line,
  lines: AsyncGenerator<Line, undefined>,
  onProgress: (records: number) => void,
): Promise<number> {
  const exported = readHeader(first.number, parseLine(first), tables, series)
  const counts: Record<string, number> = {}
  let restored = 0
  let rows: Row[] = []
  let table: ExportedTable | undefined
  let length = 0
  let ending: Ending | undefined
  let last = first.number
  for await (const line of lines) {
    if (ending !== undefined) throw new RestoreRefusedError(line.number, 'The export has ended before this line.')
    last = line.number
    const value = parseLine(line)
    if (isRecordLine(value)) await add(line.number, value)
    else if (isEnding(value)) ending = value
    else throw new RestoreRefusedError(line.number, 'The line is neither a record nor the end of an export.')
  }
  await insert()
  if (ending === undefined) throw new RestoreRefusedError(last, 'The export is cut off after this line.')
  for (const { name } of tables) {
    const [said, found] = [ending.counts[name] ?? 0, counts[name] ?? 0]
    if (said !== found) {
      throw new RestoreRefusedError(last, `The export should have ${said} records of ${name}, and has ${found}.`)
    }
  }
  await setNextIds(db, tables, ending.next_ids)
  return restored

  async function add(line: number, { table: name, record }: RecordLine): Promise<void> {
    const next = exported.get(name)
    if (next === undefined) throw new RestoreRefusedError(line, `The header has no table ${quote(name)}.`)
    const flaw = flawOf(record, next.columns)
    if (flaw !== undefined) throw new RestoreRefusedError(line, flaw)
    if (next !== table || rows.length === rowsPerInsert || length > longestInsert) await insert()
    const json = JSON.stringify(record)
    table = next
    rows.push({ line, json })
    length += json.length
  }

  async function insert(): Promise<void> {
    const into = table
    if (into === undefined) return
    await writeInHalves(
      db,
      rows,
      rows => insertRows(db, into, rows),
      reasonOf,
      ({ line }, reason) => {
        throw new RestoreRefusedError(line, reason)
      },
    )
    counts[into.name] = (counts[into.name] ?? 0) + rows.length
    restored += rows.length
    rows = []
    length = 0
    onProgress(restored)
  }
}

/** Skips what "npm run" prints before the command's output, unless it is silenced by -s. @returns the first line */
async function skipBanner(lines: AsyncGenerator<Line, undefined>): Promise<Line> {
  let line: Line | undefined
  let number = 0
  do {
    line = (await lines.next()).value
    number++
    if (line === undefined) throw new RestoreRefusedError(number, 'The file has no export.')
  } while (number <= longestBanner && /^(?:> .*)?$/.test(line.bytes.toString('latin1')))
  return line
}

/** A table of an export, with the columns that the export has. */
type ExportedTable = Pick<KeptTable, 'name' | 'columns'>

/**
 * Reads the line that an export begins with.
 * @returns the tables of the export, by name
 * @throws {RestoreRefusedError} if it is not the header of an export, or of an export that is newer than this program
 */
function readHeader(
  line: number,
  value: unknown,
  tables: readonly KeptTable[],
  allSeries: readonly MigrationSeries[],
): Map<string, ExportedTable> {
  if (!isOurs(value)) refuse('The file is not an export of Portico.')
  const { version } = value
  if (typeof version === 'number' && version !== formatVersion) {
    refuse(`The export has version ${version} of the format, and this version of Portico reads ${formatVersion}.`)
  }
  if (!isHeader(value)) refuse('The line is not the header of an export.')
  const { migration, site_migration: siteMigration, tables: exported } = value
  const isUnknown = (name: string) => allSeries.every(({ migrations }) => !Object.hasOwn(migrations, name))
  if (isUnknown(migration)) {
    refuse(`The export is of a newer version of Portico: this one has no migration ${quote(migration)}.`)
  }
  if (siteMigration !== undefined && isUnknown(siteMigration)) {
    const example = quote(siteMigration)
    refuse(`The export is of an application with migrations that this one does not have, such as ${example}.`)
  }
  return new Map(Object.entries(exported).map(([name, columns]) => [name, tableOf(name, columns)]))

  function tableOf(name: string, columns: readonly string[]): ExportedTable {
    const table = tables.find(table => table.name === name)
    if (table === undefined) refuse(`There is no table ${quote(name)}.`)
    const unknown = columns.find(column => table.columns.every(({ name }) => name !== column))
    if (unknown !== undefined) refuse(`${name} has no column ${quote(unknown)}.`)
    const missing = table.key.find(column => !columns.includes(column))
    if (missing !== undefined) refuse(`The line leaves out the column ${missing} of ${name}.`)
    // An older export has fewer columns, and the others get their defaults.
    return { name, columns: table.columns.filter(({ name }) => columns.includes(name)) }
  }

  function refuse(reason: string): never {
    throw new RestoreRefusedError(line, reason)
  }
}

/**
 * Removes the demonstration records, if there are only these and nobody has changed them.
 * @throws {RestoreRefusedError} if there are other records, or rows of other tables that refer to records
 */
async function emptyDatabase(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<void> {
  const used = [...(await readReferringTables(db, tables)), ...(await readUsedTables(db, tables))]
  if (used.length > 0) {
    const names = new Set(used.map(table => table.replaceAll('_', ' ')))
    throw new RestoreRefusedError(undefined, `The database is not empty: it has ${[...names].join(', ')}.`)
  }
  // Not truncated, because that would lock readers out.
  for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(db)
}

/**
 * Finds the tables that have other rows than those that the transactions of the demonstration wrote. Where a dump was
 * restored in one transaction, that has written all rows, those of the migrations included.
 */
async function readUsedTables(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<string[]> {
  const { rows: seeded } = await sql<{ exists: boolean }>`
    select to_regclass(${seedTable}) is not null as exists`.execute(db)
  const ofSeeds = seeded[0]?.exists
    ? sql`where xmin::text not in (
        select xmin::text from ${sql.table(seedTable)} except select xmin::text from ${sql.table(migrationTable)})`
    : sql``
  const used: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql`select from ${sql.table(name)} ${ofSeeds} limit 1`.execute(db)
    if (rows.length > 0) used.push(name)
  }
  return used
}

/**
 * Finds the tables of nobody's export that refer to kept tables and have rows. Removing the records that they refer to
 * would remove the rows, too. The tables are locked against writers until the end of the transaction.
 */
async function readReferringTables(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<string[]> {
  const kept = tables.map(({ name }) => name)
  const { rows: referring } = await sql<{ name: string; quoted: string }>`
    select distinct relname as name, conrelid::regclass::text as quoted
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and confrelid = any(${kept}::regclass[])
      and conrelid <> all(${[...kept, ...tablesOfPortico]}::regclass[])
    order by name`.execute(db)
  const names: string[] = []
  for (const { name, quoted } of referring) {
    await sql`lock table ${sql.raw(quoted)} in share row exclusive mode`.execute(db)
    const { rows } = await sql`select from ${sql.raw(quoted)} limit 1`.execute(db)
    if (rows.length > 0) names.push(name)
  }
  return names
}

interface Row {
  line: number
  json: string
}

async function insertRows(db: Kysely<Tables>, { name, columns }: ExportedTable, rows: readonly Row[]): Promise<void> {
  const list = sql.join(columns.map(({ name }) => sql.ref(name)))
  // JSON takes one parameter for any number of rows.
  const json = `[${rows.map(({ json }) => json).join()}]`
  await sql`
    insert into ${sql.table(name)} (${list})
    select ${list} from json_populate_recordset(null::${sql.table(name)}, ${json}::json)`.execute(db)
}

/** Why the database refuses a record, as a sentence, or undefined if the record is not the reason. */
function reasonOf(error: unknown): string | undefined {
  // Class 22 is about values, class 23 about constraints, class 54 about what is too long for an index.
  if (!(error instanceof pg.DatabaseError) || !/^(?:2[23]|54)/.test(error.code ?? '')) return undefined
  // The detail of other violations is the whole record, with its password.
  const isAboutKey = error.code === '23505' || error.code === '23503'
  return isAboutKey && error.detail !== undefined ? error.detail : `The database refuses it: ${error.message}.`
}

/** Lets ids continue at these, or after the highest one if that is later. Part of the transaction, unlike setval(). */
async function setNextIds(
  db: Kysely<Tables>,
  tables: readonly KeptTable[],
  nextIds: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { table, column, name } of sequencesOf(tables)) {
    const id = sql.ref(column)
    // The highest bigint has no successor.
    const highest = sql`max(${id}) + (max(${id}) < 9223372036854775807)::int`
    const { rows } = await sql<{ next: string }>`
      select greatest(${nextIds[table]}::bigint, 1, ${highest}) as next
      from ${sql.table(table)}`.execute(db)
    const [row] = rows
    if (row !== undefined) await sql`alter sequence ${sql.raw(name)} restart with ${sql.raw(row.next)}`.execute(db)
  }
}
