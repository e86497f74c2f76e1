import { type Kysely, sql } from 'kysely'

/** Indexes the texts that lists are searched by the beginning of. An index in the database's own collation cannot. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of [
    ['licenses', 'domain'],
    ['licenses', 'name'],
    ['museums', 'name'],
    ['groups', 'name'],
    ['users', 'email'],
  ] as const) {
    await sql`
      create index ${sql.id(`${table}_${column}_prefix`)}
      on ${sql.table(table)} (lower(${sql.ref(column)}) text_pattern_ops)`.execute(db)
  }
}
