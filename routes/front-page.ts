import type { FastifyInstance } from 'fastify'
import type { Database } from '../src/database/database.ts'
import { type Museum, museumsOnPage } from '../src/entities.ts'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { html } from '../src/pages/html.ts'
import { type VisitorWords, visitorWords } from '../src/pages/visitor-words.ts'
import { museums as kind } from '../src/records/kinds.ts'
import { listRecords } from '../src/records/repository.ts'
import { type Position, readCursor, writeCursor } from '../src/records/selection.ts'
import { prefersData, sendData, sendSitePage } from './page.ts'

type Query = Partial<Record<'cursor' | '_locale', unknown>>

interface MuseumPage {
  museums: readonly Museum[]
  /** The cursor of the previous page, or null on the first page. */
  previous: string | null
  /** The cursor of the next page, or null on the last page. */
  next: string | null
}

/** GET /: the museums and languages of the licensed site, as HTML or JSON. */
export default async function frontPage(app: FastifyInstance) {
  const {
    database,
    entities: { museums, languages },
  } = app

  app.get<{ Querystring: Query }>('/', async function showFrontPage(request, reply) {
    const { id, domain, name } = request.requireLicense()
    const { locale, query } = request
    const page =
      query.cursor === undefined ? firstPage(await museums.read(id)) : await pageAt(database, id, query.cursor)
    if (!prefersData(request)) return await sendSitePage(request, reply, { main: renderMuseums(page, query, locale) })
    // No more of the license than the page shows.
    return sendData(reply, {
      license: { domain, name },
      locale,
      museums: page.museums.map(({ id, name, url }) => ({ id, name, url })),
      previous: page.previous,
      next: page.next,
      languages: (await languages.read(id)).map(({ code, name }) => ({ code, name })),
    })
  })
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
  const museums = isBackwards ? records.reverse() : records
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

function renderMuseums(page: MuseumPage, query: Query, locale: string) {
  const words = visitorWords(locale).frontPage
  return html`
      <h2 id="museums">${words.museums}</h2>
      ${
        page.museums.length === 0
          ? html`<p class="quiet">${query.cursor === undefined ? words.noMuseums : words.noMoreMuseums}</p>`
          : html`<ul class="records" aria-labelledby="museums">
              ${page.museums.map(({ name, url }) => html`<li>${url === null ? name : html`<a rel="external" href="${url}">${name}</a>`}</li>`)}
            </ul>`
      }
      ${renderPages(page, query, words)}`
}

function renderPages(
  { previous, next }: MuseumPage,
  { cursor, _locale: chosen }: Query,
  words: VisitorWords['frontPage'],
) {
  const isFirst = cursor === undefined
  if (isFirst && next === null) return false
  const locale = typeof chosen === 'string' ? chosen : null
  return html`
      <nav aria-label="${words.pages}">
        <ul>
          ${!isFirst && html`<li><a href="${linkTo(null, locale)}">${words.first}</a></li>`}
          ${previous !== null && html`<li><a rel="prev" href="${linkTo(previous, locale)}">${words.previous}</a></li>`}
          ${next !== null && html`<li><a rel="next" href="${linkTo(next, locale)}">${words.next}</a></li>`}
        </ul>
      </nav>`
}

function linkTo(cursor: string | null, locale: string | null): string {
  const query = new URLSearchParams({ ...(locale !== null && { _locale: locale }), ...(cursor !== null && { cursor }) })
  return query.size === 0 ? '/' : `/?${query}`
}
