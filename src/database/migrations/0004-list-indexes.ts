import { type Kysely, sql } from 'kysely'

/** Indexes the columns that lists of records are sorted and filtered by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['licenses', 'museums', 'groups']) {
    await sql`create index ${sql.id(`${table}_name_id`)} on ${sql.table(table)} (name, id)`.execute(db)
  }
}
