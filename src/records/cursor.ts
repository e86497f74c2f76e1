import { formats } from './formats.ts'

/** A place in a list that is sorted by a column, and by id where its values are the same. */
export interface Position {
  /** As the list was asked for: "name", or "-name" for the other direction. */
  sort: string
  value: string
  id: string
}

/** A position as the text that clients are given, and give back. */
export function writeCursor({ sort, value, id }: Position): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url')
}

/** @returns undefined where it is no position in a list of this sort */
export function readCursor(text: string, sort: string): Position | undefined {
  const [cursorSort, value, id] = parse(text)
  if (cursorSort !== sort || typeof value !== 'string' || typeof id !== 'string') return undefined
  const isFit = formats.id.accepts(id) && (sort.endsWith('id') ? value === id : !/[\p{Cs}\0]/u.test(value))
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
