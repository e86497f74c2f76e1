import { type RawBuilder, sql } from 'kysely'

/** A column's time as the API writes it: "2026-01-31T12:00:00.000Z", or null. */
export function timeText(column: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
