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

/** @returns the position, or undefined if the text is not a cursor of a list with this sort */
export function readCursor(text: string, sort: string): Position | undefined {
  const [cursorSort, value, id] = parse(text)
  if (cursorSort !== sort || typeof value !== 'string' || typeof id !== 'string') return undefined
  const isFit = formats.id.accepts(id) && (sort === 'id' || sort === '-id' ? value === id : !/[\p{Cs}\0]/u.test(value))
  return isFit ? { sort, value, id } : undefined
}

/** The error for a cursor that is not of this list. */
export function invalidCursor(): BadRequestHttpError {
  const message = 'cursor must be the "next" of a previous page of the same list, in the same order'
  return new BadRequestHttpError(`${message}.`, { members: { errors: [{ field: 'cursor', message }] } })
}

function parse(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}
