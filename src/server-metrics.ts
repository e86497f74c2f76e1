import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ReadOutcome } from './cache/entity-cache.ts'
import type { ConnectionCounts, ConnectionPool } from './database/guarded-pool.ts'

interface CountedRequest {
  method: string
  /** The route's pattern, because clients choose the path. */
  route: string
  statusCode: number
  /** Milliseconds. */
  duration: number
}

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

/** The metrics of one server and its process, as text for Prometheus. */
export class ServerMetrics {
  readonly #registry = new Registry()
  readonly #requests = new Counter({
    name: 'portico_http_requests_total',
    help: 'Answered requests by method, route and class of the status.',
    labelNames: ['method', 'route', 'status'],
    registers: [this.#registry],
  })

  readonly #durations = new Histogram({
    name: 'portico_http_request_duration_seconds',
    help: 'From the arrival of a request to the end of its answer, by route.',
    labelNames: ['route'],
    buckets,
    registers: [this.#registry],
  })

  readonly #reads = new Counter({
    name: 'portico_cache_reads_total',
    help: 'Reads of cached records by table and outcome. A shared read waits for the load of another one.',
    labelNames: ['segment', 'outcome'],
    registers: [this.#registry],
  })

  readonly #refusals = new Counter({
    name: 'portico_requests_refused_total',
    help: 'Requests that a check or a limit refused.',
    labelNames: ['by'],
    registers: [this.#registry],
  })

  /** @param poolCounts undefined if the database has no pool */
  constructor(poolCounts: ConnectionPool['counts']) {
    if (poolCounts !== undefined) this.#watchPool(poolCounts)
  }

  countRequest({ method, route, statusCode, duration }: CountedRequest): void {
    this.#requests.inc({ method, route, status: `${Math.trunc(statusCode / 100)}xx` })
    this.#durations.observe({ route }, duration / 1000)
  }

  countRead(segment: string, outcome: ReadOutcome): void {
    this.#reads.inc({ segment, outcome })
  }

  /** Lets the counts of what may refuse requests begin at 0, so that the first refusal is seen as an increase. */
  expectRefusals(refusers: readonly string[]): void {
    for (const by of refusers) this.#refusals.inc({ by }, 0)
  }

  countRefusal(by: string): void {
    this.#refusals.inc({ by })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  async text(): Promise<string> {
    return await Registry.merge([this.#registry, processMetrics]).metrics()
  }

  #watchPool(counts: () => ConnectionCounts): void {
    for (const each of ['size', 'idle', 'waiting'] as const) {
      const gauge = new Gauge({
        name: `portico_database_pool_${each}`,
        help: poolHelp[each],
        registers: [],
        collect() {
          this.set(counts()[each])
        },
      })
      this.#registry.registerMetric(gauge)
    }
  }
}
