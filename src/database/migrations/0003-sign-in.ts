import { type Kysely, sql } from 'kysely'
import { addChangeTriggers } from './0002-change-notifications.ts'

/** Prepares for signing in: unique e-mail addresses regardless of case, ended sessions, and change notifications. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create unique index users_lower_email on users (lower(email))`.execute(db)
  await sql`
    create table ended_sessions (
      session text primary key check (length(session) between 1 and 64),
      -- When the session's cookies expire.
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index ended_sessions_expires_at on ended_sessions (expires_at)`.execute(db)
  await addChangeTriggers(db, 'users', 'id')
  await addChangeTriggers(db, 'user_groups', 'user_id')
  await addChangeTriggers(db, 'ended_sessions', 'session')
}
