import type { FastifyInstance } from 'fastify'
import type {} from '../plugins/validity.ts'
import { etagOf } from '../src/http/etag.ts'
import { negotiateType } from '../src/http/negotiation.ts'
import { type FrontPage, renderFrontPage } from './front-page-view.ts'
import { firstPage, pageAt } from './museum-page.ts'

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
    museums: museums.map(({ id, name }) => ({ id, name })),
    previous,
    next,
    languages: languages.map(({ code, name }) => ({ code, name })),
  }
}
