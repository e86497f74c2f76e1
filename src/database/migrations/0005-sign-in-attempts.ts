import { type Kysely, sql } from 'kysely'

/** Attempts to sign in, which the servers on one database count together: see src/sign-in/attempts.ts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sign_in_attempts (
      -- Keys are hashed to a fixed number of counters: the table is bounded, and an expired counter is used again.
      counter integer primary key check (counter between 0 and 262143),
      attempts integer not null check (attempts > 0),
      expires_at timestamptz not null
    )
    -- No index has a column that changes, so that an update finds room in its own page.
    with (fillfactor = 70)`.execute(db)
}
