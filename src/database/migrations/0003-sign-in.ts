import { type Kysely, sql } from 'kysely'
import { addChangeTriggers } from './0002-change-notifications.ts'

/** What signing in needs: one user for an e-mail address however it is written, sessions that were ended, and their changes told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create unique index users_lower_email on users (lower(email))`.execute(db)
  await sql`
    create table ended_sessions (
      session text primary key check (length(session) between 1 and 64),
      -- Its cookies are out of date by themselves from then on.
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index ended_sessions_expires_at on ended_sessions (expires_at)`.execute(db)
  await addChangeTriggers(db, 'users', 'id')
  await addChangeTriggers(db, 'user_groups', 'user_id')
  await addChangeTriggers(db, 'ended_sessions', 'session')
}
