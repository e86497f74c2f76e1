import { BadRequestHttpError } from '../errors/http-errors.ts'
import { formats } from './formats.ts'

/** A position in a list that is sorted by a column and then by id. */
export interface Position {
  /** The column, with a "-" in front if the order is descending: "name" or "-name". */
  sort: string
  value: string
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
  throw new BadRequestHttpError(`${message}.`, { members: { errors: [{ field: 'cursor', message }] } })
}

/** @returns the position, or undefined if the text is not a cursor of a list with this sort */
export function readCursor(text: string, sort: string): Position | undefined {
  const [cursorSort, value, id] = parse(text)
  if (cursorSort !== sort || typeof value !== 'string' || typeof id !== 'string') return undefined
  const isFit = formats.id.accepts(id) && (sort === 'id' || sort === '-id' ? value === id : !/[\p{Cs}\0]/u.test(value))
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
