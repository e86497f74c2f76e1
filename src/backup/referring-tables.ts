import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { type KeptTable, tablesOfPortico } from './kept-tables.ts'

/**
 * Finds the tables of nobody's export that refer to kept tables and have rows. Removing the records that they refer to
 * would remove the rows, too. The tables are locked against writers until the end of the transaction.
 */
export async function readReferringTables(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<string[]> {
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
