import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { ApiToken } from '../entities.ts'

/** In milliseconds. */
const hourLength = 60 * 60 * 1000

/** Keeps the hour in which each API token was last used. That takes at most one write an hour for each token. */
export class TokenUses {
  readonly #db: Kysely<Tables>
  /** The hour that was last written of each cached token. The write makes the cache read the token again. */
  readonly #written = new WeakMap<ApiToken, number>()

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Keeps that a token is used now. Need not be awaited. Rejects if the database cannot be written to. */
  async add(token: ApiToken): Promise<void> {
    const hour = Math.floor(Date.now() / hourLength) * hourLength
    if (Math.max(token.last_used_at ?? 0, this.#written.get(token) ?? 0) >= hour) return
    this.#written.set(token, hour)
    // The database's hour: no other server would write before one in the future has come.
    const now = sql<Date>`date_trunc('hour', now(), 'UTC')`
    await this.#db
      .updateTable('api_tokens')
      .set({ last_used_at: now })
      .where('id', '=', token.id)
      // Another server may have been faster.
      .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', now)]))
      .execute()
  }
}
