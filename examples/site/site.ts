import * as portico from 'portico'
import { exhibitions, exhibitionsByMuseum, migrations } from './exhibitions.js'

export const site: portico.Additions = {
  migrations,
  records: [exhibitions],
  entities: exhibitionsByMuseum,
  checks: [
    async function closedToRobots(app) {
      app.addHook('onRequest', async request => {
        if (/bot/i.test(request.headers['user-agent'] ?? '')) throw new portico.ForbiddenHttpError('No robots, please.')
      })
    },
  ],
  async routes(app) {
    await app.register(portico.routes)
    app.get<{ Params: { museum: string } }>('/exhibitions/:museum(^\\d{1,18}$)', async request => ({
      site: request.requireLicense().name,
      exhibitions: await app.entities.exhibitions.read(request.params.museum),
    }))
  },
}
