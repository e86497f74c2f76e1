import { museumsOnPage, type Museum } from '../src/entities/museum.ts'
import type { Database } from '../src/database/database.ts'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { type Position, readCursor, writeCursor } from '../src/records/cursor.ts'
import { museums as kind } from '../src/records/museum.ts'
import { type AnyRecord, listRecords } from '../src/records/repository.ts'

/** A part of a license's museums, by name. */
export interface MuseumPage {
  museums: readonly Museum[]
  /** The cursor of the page before; null: this is the first. */
  previous: string | null
  /** The cursor of the page after; null: this is the last. */
  next: string | null
}

const [forwards, backwards] = ['name', '-name'] as const

/** @param held the first museums, and one more where there are more */
export function firstPage(held: readonly Museum[]): MuseumPage {
  const museums = held.slice(0, museumsOnPage)
  const next = held.length > museumsOnPage ? cursorAt(museums.at(-1), forwards) : null
  return { museums, previous: null, next }
}

/**
 * The page that a cursor leads to, on from it or back from it.
 * @throws {BadRequestHttpError} where it is none
 */
export async function pageAt({ db }: Database, licenseId: string, cursor: unknown): Promise<MuseumPage> {
  const after = positionOf(cursor)
  const listing = { filters: { license_id: licenseId }, sort: after.sort, after, limit: museumsOnPage }
  const { records, next: further } = await listRecords(db, kind, listing)
  const isBackwards = after.sort === backwards
  const museums = (isBackwards ? records.reverse() : records).map(toMuseum)
  return {
    museums,
    // Whoever came from one side can go back to it.
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
