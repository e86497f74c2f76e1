import fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { EntityMetadata, ReadOutcome } from '../src/cache/entity-cache.ts'
import { reasonOf, StartError } from '../src/errors/start-error.ts'
import type { ServerMetrics } from '../src/server-metrics.ts'
import { requestTimeout } from '../src/serving/limits.ts'
import { isRefusal, limitNames, refusals } from './checks.ts'
import type {} from './entities.ts'

interface MetricsOptions {
  /** Undefined for no metrics. 0 lets the system choose. */
  port: number | undefined
  host: string
}

/** Counts requests, cache reads and refusals. Shows the counts to Prometheus on a port of their own. */
async function metrics(app: FastifyInstance, { port, host }: MetricsOptions) {
  if (port === undefined) return
  const { checks, entityCache, database, server, supportedMethods } = app
  // Imported on demand, so that servers without metrics load none of it.
  const { ServerMetrics } = await import('../src/server-metrics.ts')
  const counts = new ServerMetrics(database.pool.counts)

  app.addHook('onResponse', function countRequest(request, reply, done) {
    counts.countRequest({
      // Clients may make up methods and paths, so those without a route share a label.
      method: supportedMethods.includes(request.method) ? request.method : 'other',
      route: request.routeOptions.url ?? 'none',
      statusCode: reply.statusCode,
      duration: reply.elapsedTime,
    })
    done()
  })

  const countRead = ({ table }: EntityMetadata, _key: string, outcome: ReadOutcome) => counts.countRead(table, outcome)
  const countRefusal = (message: unknown) => {
    // Other apps of the process publish on the same channel.
    if (isRefusal(message) && message.request.server?.server === server) counts.countRefusal(message.by)
  }
  entityCache.events.on('read', countRead)
  refusals.subscribe(countRefusal)
  const listener = makeListener(counts, checks)
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

/** A server that answers GET /metrics and nothing else. */
function makeListener(counts: ServerMetrics, checks: FastifyInstance['checks']): FastifyInstance {
  const listener = fastify({ forceCloseConnections: true, requestTimeout })
  listener.get('/metrics', async function sendMetrics(_request, reply) {
    counts.expectRefusals([...checks.keys(), ...limitNames])
    return reply.type(counts.contentType).send(await counts.text())
  })
  return listener
}

export default fp(metrics, { name: 'metrics', dependencies: ['checks', 'database', 'entities'], fastify: '5.x' })
