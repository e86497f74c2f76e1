import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

const metadata = { table: 'ended_sessions', columns: ['session'], key: 'session', joins: [] } as const

/** Whether a session has been signed out of, so that a copied cookie is no longer accepted. */
export function endedSessions(db: Kysely<Tables>, cache: EntityCache): EntitySegment<boolean> {
  return cache.segment(
    metadata,
    async session =>
      (await db
        .selectFrom('ended_sessions')
        .select(metadata.columns)
        .where('session', '=', session)
        .executeTakeFirst()) !== undefined,
  )
}
