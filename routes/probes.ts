import type { FastifyInstance } from 'fastify'
import { sendFailure } from '../src/errors/send-error.ts'
import type { HttpServers } from '../src/serving/http-servers.ts'

const retryLater = { 'retry-after': '1' }
// Probed every few seconds, so their log lines would bury all others.
const quietly = { logLevel: 'warn' } as const

/** GET /health, the liveness probe, and GET /ready, by which load balancers learn why the server takes no requests. */
export default async function probes(app: FastifyInstance, { servers }: { servers: HttpServers }) {
  const { availability, changes } = app.database

  app.get('/health', quietly, async function tellHealth(_request, reply) {
    return reply.header('cache-control', 'no-store').send({ status: 'alive' })
  })

  app.get('/ready', quietly, async function tellReadiness(request, reply) {
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
