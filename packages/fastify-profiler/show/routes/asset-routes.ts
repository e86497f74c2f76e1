import type { FastifyInstance } from 'fastify'
import { assets } from '../parts/assets.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'
import { sendMissing } from './send-missing.ts'

/** The stylesheets and scripts of the pages. */
export function assetRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources

  app.get<{ Params: { name: string } }>(`${base}/assets/:name`, async function sendAsset(request, reply) {
    const { name } = request.params
    const asset = new Map(Object.entries(assets)).get(name)
    if (asset === undefined) return sendMissing(request, reply, { what: 'page', path: `assets/${name}` }, sources)
    const isCurrent = queryOf(request).get('v') === asset.version
    return reply
      .header('cache-control', isCurrent ? 'private, max-age=31536000, immutable' : 'private, no-cache')
      .type(asset.type)
      .send(asset.body)
  })
}
