import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import type { Availability } from './availability.ts'
import { isCondition, isUnanswered, unavailable } from './failures.ts'

/** The part of pg's PoolClient that is used without Kysely. */
export interface QueryConnection {
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  release(destroy?: boolean): void
}

export interface ConnectionPool {
  connect(): Promise<QueryConnection>
  /** Undefined if it does not keep its connections. */
  readonly counts?: () => ConnectionCounts
}

export interface ConnectionCounts {
  /** Open connections, in use or not. */
  size: number
  idle: number
  /** Callers that wait for a connection. */
  waiting: number
}

/** The longest waits of a request, in milliseconds unless stated otherwise. */
export interface Limits {
  /** For a new or a free connection. */
  connection: number
  /** For a query, until the server cancels it. */
  statement: number
  /** For a query, until the connection is given up. */
  answer: number
  /** How many queries may wait for a connection. Each keeps its request in memory, and more would time out. */
  waiting: number
  /** For the answer to a listener's query. */
  listener: number
  /** Between two heartbeats of the listener. A silent server is noticed within heartbeat + listener. */
  heartbeat: number
}

export const defaultLimits: Limits = {
  connection: 5000,
  statement: 10_000,
  answer: 12_000,
  waiting: 1000,
  listener: 2000,
  heartbeat: 1000,
}

/**
 * A pool that fails fast. It refuses queries at once while the database is lost or too many queries wait. Errors of the
 * server, as opposed to errors of the query, become a ServiceUnavailableHttpError with the driver's error as its cause.
 */
export class GuardedPool implements PostgresPool, ConnectionPool {
  readonly #pool: pg.Pool
  readonly #availability: Availability
  readonly #mostWaiting: number
  /** Connections opened since the database was last lost. Older ones may be dead without an error. */
  #connections = new WeakMap<pg.PoolClient, GuardedConnection>()
  readonly #lent = new Set<GuardedConnection>()

  constructor(pool: pg.Pool, availability: Availability, { waiting }: Pick<Limits, 'waiting'>) {
    this.#pool = pool
    this.#availability = availability
    this.#mostWaiting = waiting
    pool.on('connect', client => this.#connections.set(client, new GuardedConnection(client, this.#lent)))
    availability.on('lost', cause => {
      this.#connections = new WeakMap()
      // Their queries will never be answered.
      for (const connection of this.#lent) connection.abandon(cause)
    })
  }

  /** @throws {ServiceUnavailableHttpError} if the database is lost, too many queries wait, or the wait is too long */
  async connect(): Promise<GuardedConnection> {
    const { loss } = this.#availability
    if (loss !== null) throw unavailable(loss.cause)
    if (this.#pool.waitingCount >= this.#mostWaiting) {
      throw unavailable(new Error(`${this.#mostWaiting} queries are already waiting for a connection.`))
    }
    try {
      for (;;) {
        const client = await this.#pool.connect()
        const connection = this.#connections.get(client)
        if (connection !== undefined) return connection.lend()
        client.release(true)
      }
    } catch (error) {
      throw unavailable(this.#availability.loss?.cause ?? error)
    }
  }

  readonly counts = (): ConnectionCounts => {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { size: totalCount, idle: idleCount, waiting: waitingCount }
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}

class GuardedConnection implements PostgresPoolClient, QueryConnection {
  readonly #client: pg.PoolClient
  readonly #lent: Set<GuardedConnection>
  /** Why no query can be answered any more; null while they can. */
  #fault: { reason: unknown } | null = null

  constructor(client: pg.PoolClient, lent: Set<GuardedConnection>) {
    this.#client = client
    this.#lent = lent
    client.on('error', error => {
      this.#fault ??= { reason: error }
    })
  }

  lend(): this {
    this.#lent.add(this)
    return this
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  /** Required by Kysely's type for streaming, which is not used. */
  query(cursor: PostgresCursor<unknown> & pg.QueryConfig): never
  async query(query: string | pg.QueryConfig, values?: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#client.query(query, values && [...values])
    } catch (error) {
      // A late answer would be mistaken for the next query's.
      if (isUnanswered(error)) this.abandon(error)
      // The errors of later queries, such as ROLLBACK, do not say what happened.
      if (this.#fault !== null) throw unavailable(this.#fault.reason)
      throw isCondition(error) ? unavailable(error) : error
    }
  }

  release(destroy = false): void {
    this.#lent.delete(this)
    this.#client.release(destroy || this.#fault !== null)
  }

  /** Destroys the connection. Its current query and all later ones fail at once. */
  abandon(reason: unknown): void {
    this.#fault ??= { reason }
    this.#client.connection.stream.destroy()
  }
}
