import { type RawBuilder, sql } from 'kysely'
import type { Audited } from './record-kind.ts'
import { formats, invalid, valueOf } from './validation.ts'

/** A column's time as the API writes it: "2026-01-31T12:00:00.000Z", or null. */
export function timeText(column: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** A column of a kind's table. */
export function columnOf({ table }: Audited, name: string): RawBuilder<unknown> {
  return sql.ref(`${table}.${name}`)
}

/** Selects a kind's fields as its schema has them: ids and times as text, links as lists of ids. */
export function selectionOf(kind: Audited): RawBuilder<unknown> {
  return sql.join(Object.keys(kind.schema.properties).map(name => sql`${selectedOf(kind, name)} as ${sql.ref(name)}`))
}

/** Selects one of them. */
export function selectedOf(kind: Audited, name: string): RawBuilder<unknown> {
  const computed = kind.computed?.[name]
  if (computed !== undefined) return computed
  const link = kind.links[name]
  if (link === undefined) {
    const column = columnOf(kind, name)
    const { format, type } = valueOf(kind.schema.properties[name])
    // The driver would return numeric and bigint as text. As text, a real has the digits that it was given.
    if (type === 'number' || type === 'integer') return sql`${column}::text::double precision`
    switch (format) {
      case 'id':
        return sql`${column}::text`
      case 'date':
        return sql`to_char(${column}, 'YYYY-MM-DD')`
      case 'date-time':
        return timeText(column)
      default:
        return column
    }
  }
  const { table, own, other, position = other } = link
  return sql`array(
    select ${sql.ref(`${table}.${other}`)}::text from ${sql.table(table)}
    where ${sql.ref(`${table}.${own}`)} = ${columnOf(kind, 'id')}
    order by ${sql.ref(`${table}.${position}`)})`
}

/** What a name is sorted by, so that "No. 2" comes before "No. 10". The function is of migration 0011. */
export function sortKey(name: RawBuilder<unknown>): RawBuilder<string> {
  return sql`sort_key(${name})`
}

/** A position in a list that is sorted by a column and then by id. */
export interface Position {
  /** The column, with a "-" in front if the order is descending: "name" or "-name". */
  sort: string
  value: string | null
  id: string
}

/** Encodes a position as an opaque text that clients send back. */
export function writeCursor({ sort, value, id }: Position): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url')
}

/**
 * The position of a client's cursor; undefined without one.
 * @throws {BadRequestHttpError} if it is not of a list with this sort
 */
export function positionOf(cursor: string | undefined, sort: string): Position | undefined {
  if (cursor === undefined) return undefined
  const position = readCursor(cursor, sort)
  if (position !== undefined) return position
  const message = 'cursor must be the "next" of a previous page of the same list, in the same order'
  throw invalid([{ field: 'cursor', message }])
}

/** @returns the position, or undefined if the text is not a cursor of a list with this sort */
export function readCursor(text: string, sort: string): Position | undefined {
  const [cursorSort, value, id] = parse(text)
  if (cursorSort !== sort || typeof id !== 'string') return undefined
  if (value !== null && typeof value !== 'string') return undefined
  const isFit =
    formats.id.accepts(id) && (sort === 'id' || sort === '-id' ? value === id : !/[\p{Cs}\0]/u.test(value ?? ''))
  return isFit ? { sort, value, id } : undefined
}

function parse(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}
