import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import type { Tables } from '../../src/database/tables.ts'

/** Lets each change of a table fail with a code of PostgreSQL. @returns a function that mends it */
export async function breakTable({ db }: Database, table: string, code = 'P0001'): Promise<() => Promise<unknown>> {
  await sql`create function fail() returns trigger language plpgsql
    as ${sql.lit(`begin raise exception 'it failed' using errcode = '${code}'; end`)}`.execute(db)
  await sql`create trigger fail before insert or update on ${sql.table(table)}
    for each row execute function fail()`.execute(db)
  return () => sql`drop function fail cascade`.execute(db)
}

/** Waits until other connections are in a transaction, and breaks them. */
export async function breakTransactions(db: Kysely<Tables>): Promise<void> {
  const end = sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  while ((await end.execute(db)).rows.length === 0);
}
