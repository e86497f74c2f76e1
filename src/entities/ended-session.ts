import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Segment } from '../cache/segment.ts'
import type { Store } from '../cache/store.ts'

const metadata = { table: 'ended_sessions', columns: ['session'], key: 'session', joins: [] } as const

/** Whether a session has been signed out of, so that a copied cookie is no longer accepted. */
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
