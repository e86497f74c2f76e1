import type { FastifyInstance } from 'fastify'
import { sendFailure } from '../src/errors/send-error.ts'
import type { HttpServers } from '../src/serving/http-servers.ts'

interface ReadyOptions {
  servers: HttpServers
}

const retryLater = { 'retry-after': '1' }

/** GET /ready: the readiness probe for load balancers. A 503 says why the server takes no requests. */
export default async function ready(app: FastifyInstance, { servers }: ReadyOptions) {
  const { availability, changes } = app.database

  app.get('/ready', { logLevel: 'warn' }, async function tellReadiness(request, reply) {
    const obstacle = obstacleNow()
    if (obstacle !== undefined) return sendFailure(503, obstacle, retryLater, request, reply.varyOn('Accept'))
    return reply.header('cache-control', 'no-store').send({ status: 'ready' })
  })

  function obstacleNow(): string | undefined {
    if (servers.isClosing) return 'The server is closing.'
    if (!availability.reachable) return 'The database cannot be reached.'
    if (!changes.areArriving) return 'The server receives no change notifications from the database.'
  }
}
