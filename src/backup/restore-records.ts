import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { MigrationSeries } from '../database/migration.ts'
import type { Tables } from '../database/tables.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { type Ending, isObject, type RecordLine } from './backup-format.ts'
import { type Line, linesOf, parseLine } from './backup-lines.ts'
import { problemOf, quote } from './column-values.ts'
import { emptyDatabase } from './empty-database.ts'
import { insertRows, type Row } from './insert-rows.ts'
import { type KeptTable, readKeptTables } from './kept-tables.ts'
import { setNextIds } from './next-ids.ts'
import { readEnding } from './read-ending.ts'
import { type ExportedTable, readHeader } from './read-header.ts'
import { RestoreRefusedError } from './restore-refused.ts'

const rowsPerInsert = 5000
/** In characters. Bounds the memory that long records cost. */
const longestInsert = 4 * 1024 * 1024
/** In lines. */
const longestBanner = 10

/**
 * Restores an export into an empty database, all or nothing, in constant memory. The demonstration records count as
 * nothing unless somebody changed them. The triggers of the tables tell running servers.
 * @param ownKinds the kinds of records that an application adds to Portico's
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
  const lines = linesOf(input)
  try {
    // Read first: the transaction makes writers wait, and an embedded database everybody.
    const first = await skipBanner(lines)
    return await db.transaction().execute(async transaction => {
      const tables = await readKeptTables(transaction, ownKinds)
      // Others may read meanwhile, and write after it.
      const names = sql.join(tables.map(({ name }) => sql.table(name)))
      await sql`lock table ${names} in share row exclusive mode`.execute(transaction)
      await emptyDatabase(transaction, tables)
      return await new Restoration(transaction, series, tables, onProgress).restore(first, lines)
    })
  } finally {
    await lines.return(undefined)
  }
}

class Restoration {
  readonly #db: Kysely<Tables>
  readonly #series: readonly MigrationSeries[]
  readonly #tables: readonly KeptTable[]
  readonly #onProgress: (records: number) => void
  readonly #counts: Record<string, number> = {}
  #restored = 0
  /** The rows that wait for an INSERT, and their table. */
  #rows: Row[] = []
  #table: ExportedTable | undefined
  #length = 0

  constructor(
    db: Kysely<Tables>,
    series: readonly MigrationSeries[],
    tables: readonly KeptTable[],
    onProgress: (records: number) => void,
  ) {
    this.#db = db
    this.#series = series
    this.#tables = tables
    this.#onProgress = onProgress
  }

  /** @returns the number of records */
  async restore(first: Line, lines: AsyncGenerator<Line, undefined>): Promise<number> {
    const exported = readHeader(first.number, parseLine(first), this.#tables, this.#series)
    let ending: Ending | undefined
    let last = first.number
    for await (const line of lines) {
      if (ending !== undefined) throw new RestoreRefusedError(line.number, 'The export has ended before this line.')
      last = line.number
      const value = parseLine(line)
      if (isRecordLine(value)) await this.#add(line.number, value, exported)
      else ending = readEnding(line.number, value)
    }
    await this.#insert()
    if (ending === undefined) throw new RestoreRefusedError(last, 'The export is cut off after this line.')
    this.#assertComplete(last, ending)
    await setNextIds(this.#db, this.#tables, ending.next_ids)
    return this.#restored
  }

  async #add(line: number, { table: name, record }: RecordLine, exported: Map<string, ExportedTable>): Promise<void> {
    const table = exported.get(name)
    if (table === undefined) throw new RestoreRefusedError(line, `The header has no table ${quote(name)}.`)
    const problem = problemOf(record, table.columns)
    if (problem !== undefined) throw new RestoreRefusedError(line, problem)
    if (table !== this.#table || this.#rows.length === rowsPerInsert || this.#length > longestInsert) {
      await this.#insert()
    }
    const json = JSON.stringify(record)
    this.#table = table
    this.#rows.push({ line, json })
    this.#length += json.length
  }

  async #insert(): Promise<void> {
    if (this.#table === undefined) return
    await insertRows(this.#db, this.#table, this.#rows)
    this.#counts[this.#table.name] = (this.#counts[this.#table.name] ?? 0) + this.#rows.length
    this.#restored += this.#rows.length
    this.#rows = []
    this.#length = 0
    this.#onProgress(this.#restored)
  }

  #assertComplete(line: number, { counts }: Ending): void {
    for (const { name } of this.#tables) {
      const [said, found] = [counts[name] ?? 0, this.#counts[name] ?? 0]
      if (said !== found) {
        throw new RestoreRefusedError(line, `The export should have ${said} records of ${name}, and has ${found}.`)
      }
    }
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
  } while (number <= longestBanner && /^(?:> .*)?$/.test(line.text))
  return line
}

function isRecordLine(value: unknown): value is Record<string, unknown> & RecordLine {
  return isObject(value) && typeof value['table'] === 'string' && isObject(value['record'])
}
