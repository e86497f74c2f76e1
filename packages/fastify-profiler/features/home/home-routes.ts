import type { FastifyInstance } from 'fastify'
import type { PageSources } from '../../core/feature.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import { findAsset } from '../../core/view/page.ts'
import { profileRoutes } from './profile-page.ts'
import { profileUrl, urlPart } from '../../core/urls.ts'
import { sendMissing } from './not-found-page.ts'
import { searchRoutes } from './search-page.ts'

/** The list of requests, each of them, and what every page needs. */
export function homeRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources
  searchRoutes(app, sources)
  profileRoutes(app, sources)

  app.get<{ Params: { name: string } }>(`${base}/assets/:name`, async function sendAsset(request, reply) {
    const { name } = request.params
    const asset = findAsset(name)
    if (asset === undefined) return sendMissing(request, reply, { what: 'page', path: `assets/${name}` }, sources)
    const isCurrent = queryOf(request).get('v') === asset.version
    return reply
      .header('cache-control', isCurrent ? 'private, max-age=31536000, immutable' : 'private, no-cache')
      .type(asset.type)
      .send(asset.body)
  })

  // Every other path: a redirect without its trailing slash, else 404.
  app.get<{ Params: { '*': string } }>(`${base}/*`, async function showOther(request, reply) {
    const path = request.params['*']
    const [token = '', panel = '', ...rest] = path.split('/')
    if (rest.length === 0 && sources.panels.some(({ name }) => name === panel)) {
      return reply.redirect(profileUrl(base, token, panel), 302)
    }
    if (!path.endsWith('/')) return sendMissing(request, reply, { what: 'page', path }, sources)
    const query = queryOf(request).toString()
    const segments = path
      .split('/')
      .filter(segment => segment !== '')
      .map(urlPart)
    return reply.redirect(`${[base, ...segments].join('/')}${query === '' ? '' : `?${query}`}`, 308)
  })
}
