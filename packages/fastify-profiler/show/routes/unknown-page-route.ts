import type { FastifyInstance } from 'fastify'
import { urlPart } from '../parts/profile-url.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'
import { sendMissing } from './send-missing.ts'

/** Every other path below the profiler's: a redirect without its trailing slash, else 404. */
export function unknownPageRoute(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources

  app.get<{ Params: { '*': string } }>(`${base}/*`, async function showOther(request, reply) {
    const path = request.params['*']
    if (!path.endsWith('/')) return sendMissing(request, reply, { what: 'page', path }, sources)
    const query = queryOf(request).toString()
    const segments = path
      .split('/')
      .filter(segment => segment !== '')
      .map(urlPart)
    return reply.redirect(`${[base, ...segments].join('/')}${query === '' ? '' : `?${query}`}`, 308)
  })
}
