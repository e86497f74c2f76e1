import type { FastifyInstance } from 'fastify'
import { etagOf } from '../src/etag.ts'
import { negotiateType } from '../src/negotiation.ts'
import { type FrontPage, renderFrontPage } from './front-page-view.ts'

const negotiate = negotiateType(['text/html', 'application/json'])

/** GET /: the museums and languages of the licensed site, for people and for programs. */
export default async function frontPage (app: FastifyInstance) {
  const { museums, languages } = app.entities

  app.get('/', async function showFrontPage (request, reply) {
    const license = request.requireLicense()
    const content = { license, locale: request.locale, user: request.user, museums: await museums.read(license.id), languages: await languages.read(license.id) }
    const type = negotiate(request.headers.accept)
    const body = type === 'text/html' ? renderFrontPage(content) : JSON.stringify(summarise(content))
    return reply.varyOn('Accept, Cookie').type(`${type}; charset=utf-8`).etag(etagOf(body)).send(body)
  })
}

/** What a program is told: names, and no more of the license than its visitors see. */
function summarise ({ license, locale, museums, languages }: FrontPage) {
  return {
    license: { domain: license.domain, name: license.name },
    locale,
    museums: museums.map(({ id, name }) => ({ id, name })),
    languages: languages.map(({ code, name }) => ({ code, name }))
  }
}
