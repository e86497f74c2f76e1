import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Column, KeptTable } from './kept-tables.ts'

/**
 * Selects a table's records as JSON in the order of its key. A bigint becomes text, because a JavaScript number holds
 * only 53 bits.
 */
export function selectRecords({ name, columns, key }: KeptTable): RawBuilder<{ record: string }> {
  const order = sql.join(key.map(column => sql.ref(`kept.${column}`)))
  return sql`
    select to_json(records)::text as record
    from (select ${sql.join(columns.map(readable))} from ${sql.table(name)} as kept order by ${order}) as records`
}

function readable({ name, type }: Column): RawBuilder<unknown> {
  const column = sql.ref(`kept.${name}`)
  return type === 'bigint' ? sql`${column}::text as ${sql.id(name)}` : column
}

/** Counts the records of all tables. */
export async function countRecords(db: Kysely<Tables>, tables: readonly KeptTable[]): Promise<number> {
  const counts = tables.map(({ name }) => sql`(select count(*) from ${sql.table(name)})`)
  const { rows } = await sql<{ count: string }>`select ${sql.join(counts, sql` + `)} as count`.execute(db)
  return Number(rows[0]?.count)
}
