import type { FastifyInstance } from 'fastify'
import { signInPath } from '../plugins/access.ts'
import type {} from '../plugins/validity.ts'
import type { Database } from '../src/database/database.ts'
import { type Museum, museumsOnPage } from '../src/entities.ts'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { etagOf } from '../src/http/etag.ts'
import { negotiateType } from '../src/http/negotiation.ts'
import { museums as kind } from '../src/records/kinds.ts'
import { type AnyRecord, listRecords } from '../src/records/repository.ts'
import { type Position, readCursor, writeCursor } from '../src/records/selection.ts'
import { type FrontPage, type MuseumPage, renderFrontPage } from './front-page-view.ts'

const negotiate = negotiateType(['text/html', 'application/json'])

interface Query {
  /** The cursor of a page of museums. Default: the first page. */
  cursor?: unknown
  _locale?: unknown
}

/** GET /: the museums and languages of the licensed site, as HTML or JSON. */
export default async function frontPage(app: FastifyInstance) {
  const {
    database,
    entities: { museums, languages },
  } = app

  app.get<{ Querystring: Query }>('/', async function showFrontPage(request, reply) {
    const license = request.requireLicense()
    const { cursor, _locale: chosen } = request.query
    const isFirst = cursor === undefined
    const page = isFirst ? firstPage(await museums.read(license.id)) : await pageAt(database, license.id, cursor)
    const content = {
      license,
      locale: request.locale,
      chosenLocale: typeof chosen === 'string' ? chosen : null,
      user: request.user,
      signIn: signInPath(request),
      closure: request.closure,
      languages: await languages.read(license.id),
      page,
      cursor: typeof cursor === 'string' ? cursor : null,
    }
    const type = negotiate(request.headers.accept)
    const body = type === 'text/html' ? renderFrontPage(content) : JSON.stringify(summarise(content))
    return reply.varyOn('Accept, Cookie').type(`${type}; charset=utf-8`).etag(etagOf(body)).send(body)
  })
}

/** The JSON answer. It contains no more of the license than the page shows. */
function summarise({ license, locale, page: { museums, previous, next }, languages }: FrontPage) {
  return {
    license: { domain: license.domain, name: license.name },
    locale,
    museums: museums.map(({ id, name, url }) => ({ id, name, url })),
    previous,
    next,
    languages: languages.map(({ code, name }) => ({ code, name })),
  }
}

const [forwards, backwards] = ['name', '-name'] as const

/** @param held the museums of the first page, plus one more if there is a second page */
function firstPage(held: readonly Museum[]): MuseumPage {
  const museums = held.slice(0, museumsOnPage)
  const next = held.length > museumsOnPage ? cursorAt(museums.at(-1), forwards) : null
  return { museums, previous: null, next }
}

/**
 * Reads the page after or before a cursor.
 * @throws {BadRequestHttpError} if the cursor is invalid
 */
async function pageAt({ db }: Database, licenseId: string, cursor: unknown): Promise<MuseumPage> {
  const after = positionOf(cursor)
  const isBackwards = after.sort === backwards
  const sort = isBackwards ? backwards : forwards
  const listing = { filters: { license_id: licenseId }, sort, after, limit: museumsOnPage }
  const { records, next: further } = await listRecords(db, kind, listing)
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

function toMuseum({ id, name, url }: AnyRecord): Museum {
  return { id, name: String(name), url: typeof url === 'string' ? url : null }
}
