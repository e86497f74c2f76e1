import { type Kysely, sql } from 'kysely'
import { prepareQuery } from '../database/prepared-queries.ts'
import { inSerialBatches } from '../database/serial-batches.ts'
import type { Tables } from '../database/tables.ts'
import type { EntityMetadata, EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

/** What a script signs in with. Times are in milliseconds since 1970. */
export interface ApiToken {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly hash: string
  /** Whether it may only make safe requests. */
  readonly read_only: boolean
  /** The hour of its last request. Null if there was none. */
  readonly last_used_at: number | null
  /** Null if it never ends. */
  readonly expires_at: number | null
}

const metadata = {
  table: 'api_tokens',
  columns: ['id', 'user_id', 'name', 'hash', 'read_only', 'last_used_at', 'expires_at'],
  key: 'hash',
  joins: [],
} as const satisfies EntityMetadata & { columns: readonly (keyof ApiToken)[] }

/** API tokens by their hash. A flood of made-up tokens takes one query at a time, as one of hosts does. */
export function apiTokensByHash(db: Kysely<Tables>, cache: EntityCache): EntitySegment<ApiToken | null> {
  const query = prepareQuery(db, hashes =>
    db
      .selectFrom(sql<{ asked: string }>`json_array_elements_text(${hashes}::json)`.as<'hashes'>(sql`hashes(asked)`))
      .innerJoin('api_tokens', 'hash', 'asked')
      .select(['id', 'user_id', 'name', 'hash', 'read_only'])
      .select([milliseconds('last_used_at').as('last_used_at'), milliseconds('expires_at').as('expires_at')]),
  )
  const load = inSerialBatches(async hashes => {
    const tokens = await query(JSON.stringify(hashes))
    return new Map(tokens.map(token => [token.hash, Object.freeze(token)]))
  })
  return cache.segment(metadata, async (hash): Promise<ApiToken | null> => (await load(hash)) ?? null)
}

/** A time in milliseconds since 1970. It may be infinite, which a Date cannot be. */
function milliseconds(column: string) {
  return sql<number | null>`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`
}
