import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Tables } from '../database/tables.ts'
import type { ExportedTable } from './read-header.ts'
import { RestoreRefusedError } from './restore-refused.ts'

/** A record of an export. */
export interface Row {
  /** The number of its line. */
  line: number
  json: string
}

/**
 * Inserts records with their ids. If the database refuses them, halves them until it has found the first that is wrong.
 * @throws {RestoreRefusedError}
 */
export async function insertRows(db: Kysely<Tables>, table: ExportedTable, rows: readonly Row[]): Promise<void> {
  await sql`savepoint restored`.execute(db)
  try {
    await insertAll(db, table, rows)
    await sql`release savepoint restored`.execute(db)
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    const half = Math.ceil(rows.length / 2)
    const [row] = rows
    if (half === rows.length) throw new RestoreRefusedError(row?.line, reason)
    await sql`rollback to savepoint restored`.execute(db)
    await insertRows(db, table, rows.slice(0, half))
    return await insertRows(db, table, rows.slice(half))
  }
}

async function insertAll(db: Kysely<Tables>, { name, columns }: ExportedTable, rows: readonly Row[]): Promise<void> {
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
  if (!(error instanceof pg.DatabaseError) || !/^(?:2[23]|54)/.test(String(error.code))) return undefined
  // The detail of other violations is the whole record, with its password.
  const isAboutKey = error.code === '23505' || error.code === '23503'
  return isAboutKey && error.detail !== undefined ? error.detail : `The database refuses it: ${error.message}.`
}
