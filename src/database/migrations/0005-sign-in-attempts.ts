import { type Kysely, sql } from 'kysely'

/** Creates the table in which all servers on one database count sign-in attempts: see src/sign-in/attempts.ts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sign_in_attempts (
      -- Keys are hashed to a fixed number of counters, so the table is bounded. Expired counters are reused.
      counter integer primary key check (counter between 0 and 262143),
      attempts integer not null check (attempts > 0),
      expires_at timestamptz not null
    )
    -- Free space in each page, so that updates are heap-only (HOT): no indexed column changes.
    with (fillfactor = 70)`.execute(db)
}
