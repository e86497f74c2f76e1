import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { ApiToken } from '../entities.ts'

/** In milliseconds. */
const hourLength = 60 * 60 * 1000

/** The hour that was last written of each cached token. The write makes the cache read the token again. */
const written = new WeakMap<ApiToken, number>()

/**
 * Keeps the hour in which an API token was last used, with at most one write an hour. Need not be awaited. Rejects if
 * the database cannot be written to.
 */
export async function keepUse(db: Kysely<Tables>, token: ApiToken): Promise<void> {
  const hour = Math.floor(Date.now() / hourLength) * hourLength
  if (Math.max(token.last_used_at ?? 0, written.get(token) ?? 0) >= hour) return
  written.set(token, hour)
  // The database's hour: no other server would write before one in the future has come.
  const now = sql<Date>`date_trunc('hour', now(), 'UTC')`
  await db
    .updateTable('api_tokens')
    .set({ last_used_at: now })
    .where('id', '=', token.id)
    // Another server may have been faster.
    .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', now)]))
    .execute()
}
