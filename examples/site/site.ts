import * as portico from 'portico'
import { exhibitions, exhibitionsByMuseum, migrations } from './exhibitions.ts'

export const site: portico.Additions = {
  migrations,
  records: [exhibitions],
  entities: exhibitionsByMuseum,
  checks: [
    async function closedToRobots(app) {
      app.checks.set('robots', 'No robots')
      app.addHook('onRequest', (request, _reply, done) => {
        const isRobot = /bot/i.test(request.headers['user-agent'] ?? '')
        if (!isRobot) return done(portico.passed(request, 'robots', 'The visitor does not say that it is a robot.'))
        done(portico.refused(request, 'robots', new portico.ForbiddenHttpError('No robots, please.')))
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
