import { museumsOnPage, type Museum } from '../src/entities.ts'
import type { Database } from '../src/database/database.ts'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { type Position, readCursor, writeCursor } from '../src/records/selection.ts'
import { museums as kind } from '../src/records/kinds.ts'
import { type AnyRecord, listRecords } from '../src/records/repository.ts'

/** One page of a license's museums, sorted by name. */
export interface MuseumPage {
  museums: readonly Museum[]
  /** The cursor of the previous page, or null on the first page. */
  previous: string | null
  /** The cursor of the next page, or null on the last page. */
  next: string | null
}

const [forwards, backwards] = ['name', '-name'] as const

/** @param held the museums of the first page, plus one more if there is a second page */
export function firstPage(held: readonly Museum[]): MuseumPage {
  const museums = held.slice(0, museumsOnPage)
  const next = held.length > museumsOnPage ? cursorAt(museums.at(-1), forwards) : null
  return { museums, previous: null, next }
}

/**
 * Reads the page after or before a cursor.
 * @throws {BadRequestHttpError} if the cursor is invalid
 */
export async function pageAt({ db }: Database, licenseId: string, cursor: unknown): Promise<MuseumPage> {
  const after = positionOf(cursor)
  const listing = { filters: { license_id: licenseId }, sort: after.sort, after, limit: museumsOnPage }
  const { records, next: further } = await listRecords(db, kind, listing)
  const isBackwards = after.sort === backwards
  const museums = (isBackwards ? records.reverse() : records).map(toMuseum)
  return {
    museums,
    // The page that the visitor came from exists, so its link needs no query.
    previous: isBackwards && further === null ? null : cursorAt(museums[0], backwards),
    next: !isBackwards && further === null ? null : cursorAt(museums.at(-1), forwards),
  }
}

function positionOf(cursor: unknown): Position {
  const position =
    typeof cursor === 'string' ? (readCursor(cursor, forwards) ?? readCursor(cursor, backwards)) : undefined
  if (position === undefined) {
    throw new BadRequestHttpError('The cursor is not valid. Follow the links of the first page.')
  }
  return position
}

function cursorAt(museum: Museum | undefined, sort: string): string | null {
  return museum === undefined ? null : writeCursor({ sort, value: museum.name, id: museum.id })
}

function toMuseum({ id, name }: AnyRecord): Museum {
  return { id, name: String(name) }
}
