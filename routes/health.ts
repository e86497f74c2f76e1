import type { FastifyInstance } from 'fastify'

/** GET /health: the liveness probe. */
export default async function health(app: FastifyInstance) {
  // Probed every few seconds, so its log lines would bury all others.
  app.get('/health', { logLevel: 'warn' }, async function tellHealth(_request, reply) {
    return reply.header('cache-control', 'no-store').send({ status: 'alive' })
  })
}
