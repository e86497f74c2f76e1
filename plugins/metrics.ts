import fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { EntityMetadata, ReadOutcome } from '../src/cache/entity-cache.ts'
import type { Config } from '../src/config.ts'
import { reasonOf, StartError } from '../src/errors/start-error.ts'
import { requestTimeout } from '../src/serving/limits.ts'
import { isRefusal, limitNames, refusals } from './checks.ts'
import type {} from './entities.ts'

/** Counts requests, cache reads and refusals. Shows the counts to Prometheus on a port of their own. */
async function metrics(app: FastifyInstance, { config }: { config: Config }) {
  const { metricsPort: port, metricsHost: host } = config
  if (port === undefined) return
  const { checks, entityCache, database, server, supportedMethods } = app
  // Imported on demand, so that servers without metrics load none of it.
  const { makeMetrics } = await import('../src/server-metrics.ts')
  const counts = makeMetrics(database.pool.counts)

  app.addHook('onResponse', function countRequest(request, reply, done) {
    // Clients may make up methods and paths, so those without a route share a label.
    const method = supportedMethods.includes(request.method) ? request.method : 'other'
    const route = request.routeOptions.url ?? 'none'
    counts.requests.inc({ method, route, status: `${Math.trunc(reply.statusCode / 100)}xx` })
    counts.durations.observe({ route }, reply.elapsedTime / 1000)
    done()
  })

  const countRead = ({ table: segment }: EntityMetadata, _key: string, outcome: ReadOutcome) =>
    counts.reads.inc({ segment, outcome })
  const countRefusal = (message: unknown) => {
    // Other apps of the process publish on the same channel.
    if (isRefusal(message) && message.request.server?.server === server) counts.refusals.inc({ by: message.by })
  }
  entityCache.events.on('read', countRead)
  refusals.subscribe(countRefusal)
  const listener = fastify({ forceCloseConnections: true, requestTimeout })
  listener.get('/metrics', async function sendMetrics(_request, reply) {
    // They begin at 0, so that the first refusal is seen as an increase.
    for (const by of [...checks.keys(), ...limitNames]) counts.refusals.inc({ by }, 0)
    return reply.type(counts.contentType).send(await counts.text())
  })
  // The sites have closed before, so a server can be watched while it finishes its requests.
  app.addHook('onClose', async function stopCounting() {
    entityCache.events.off('read', countRead)
    refusals.unsubscribe(countRefusal)
    await listener.close()
  })

  const address = await listener.listen({ port, host }).catch((error: unknown) => {
    throw new StartError(`METRICS_HOST and METRICS_PORT cannot be used: ${reasonOf(error)}.`, { cause: error })
  })
  app.log.info(`Metrics are served at ${address}/metrics`)
}

export default fp(metrics, { name: 'metrics', dependencies: ['checks', 'database', 'entities'], fastify: '5.x' })
