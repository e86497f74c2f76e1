import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { KeptTable } from './kept-tables.ts'

interface Sequence {
  table: string
  column: string
  name: string
}

function sequencesOf(tables: readonly KeptTable[]): Sequence[] {
  return tables.flatMap(({ name: table, columns }) =>
    columns.flatMap(({ name: column, sequence }) => (sequence === null ? [] : [{ table, column, name: sequence }])),
  )
}

/** Reads the next id of each table that has ids. */
export async function readNextIds(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<Record<string, string>> {
  const nextIds: Record<string, string> = {}
  for (const { table, name } of sequencesOf(tables)) {
    const { rows } = await sql<{ next: string }>`
      select case when is_called then last_value + 1 else last_value end as next from ${sql.raw(name)}`.execute(db)
    for (const { next } of rows) nextIds[table] = next
  }
  return nextIds
}

/** Lets ids continue at these, or after the highest one if that is later. Part of the transaction, unlike setval(). */
export async function setNextIds(
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
    for (const { next } of rows) await sql`alter sequence ${sql.raw(name)} restart with ${sql.raw(next)}`.execute(db)
  }
}
