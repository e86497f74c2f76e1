import type { FastifyInstance } from 'fastify'

/** GET /health: that the process is alive, to whoever would start it anew where it is not. */
export default async function health(app: FastifyInstance) {
  // Asked for every few seconds: a line each would bury the others.
  app.get('/health', { logLevel: 'warn' }, async function tellHealth(_request, reply) {
    return reply.header('cache-control', 'no-store').send({ status: 'alive' })
  })
}
