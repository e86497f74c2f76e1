import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../cache/segment.ts'
import type { Store } from '../cache/store.ts'

const metadata = { table: 'ended_sessions', columns: ['session'], key: 'session', joins: [] } as const

/** Whether a session was signed out of: a copy of its cookie must not get in. */
export function endedSessions(db: Kysely<Tables>, store: Store): Segment<boolean> {
  return store.segment(
    metadata,
    async session =>
      (await db
        .selectFrom('ended_sessions')
        .select(metadata.columns)
        .where('session', '=', session)
        .executeTakeFirst()) !== undefined,
  )
}
