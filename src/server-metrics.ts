import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ConnectionCounts, ConnectionPool } from './database/guarded-pool.ts'

/** In seconds: from an answer out of memory to the longest wait for the database. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const poolHelp: Record<keyof ConnectionCounts, string> = {
  size: 'Open connections of the database pool.',
  idle: 'Connections of the database pool that are not in use.',
  waiting: 'Queries and transactions that wait for a connection of the database pool.',
}

/**
 * Memory, processor time, garbage collection and the delay of the event loop. One registry for all apps of the process,
 * because prom-client never stops observing.
 */
const processMetrics = new Registry()

collectDefaultMetrics({ register: processMetrics })

/**
 * The metrics of one server and its process, as text for Prometheus.
 * @param poolCounts undefined if the database has no pool
 */
export function makeMetrics(poolCounts: ConnectionPool['counts']) {
  const registry = new Registry()
  const registers = [registry]
  if (poolCounts !== undefined) {
    for (const each of ['size', 'idle', 'waiting'] as const) {
      const collect = function (this: Gauge) {
        this.set(poolCounts()[each])
      }
      registry.registerMetric(
        new Gauge({ name: `portico_database_pool_${each}`, help: poolHelp[each], registers: [], collect }),
      )
    }
  }
  return {
    requests: new Counter({
      name: 'portico_http_requests_total',
      help: 'Answered requests by method, route and class of the status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    durations: new Histogram({
      name: 'portico_http_request_duration_seconds',
      help: 'From the arrival of a request to the end of its answer, by route.',
      labelNames: ['route'],
      buckets,
      registers,
    }),
    reads: new Counter({
      name: 'portico_cache_reads_total',
      help: 'Reads of cached records by table and outcome. A shared read waits for the load of another one.',
      labelNames: ['segment', 'outcome'],
      registers,
    }),
    refusals: new Counter({
      name: 'portico_requests_refused_total',
      help: 'Requests that a check or a limit refused.',
      labelNames: ['by'],
      registers,
    }),
    contentType: registry.contentType,
    text: async () => await Registry.merge([registry, processMetrics]).metrics(),
  }
}
