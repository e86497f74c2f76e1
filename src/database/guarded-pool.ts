import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import type { Availability } from './availability.ts'
import { isCondition, isUnanswered, unavailable } from './failures.ts'
import type { Limits } from './time-limits.ts'
import type { Connection } from './prepared-queries.ts'

/**
 * A pool that never keeps a request waiting for long: while the database is known to be lost, or too many wait, it
 * refuses at once. Everything that is asked of the database goes through it; what fails for the database's sake, and
 * not for the query's, is a ServiceUnavailableHttpError with the driver's error as its cause.
 */
export class GuardedPool implements PostgresPool {
  readonly #pool: pg.Pool
  readonly #availability: Availability
  readonly #mostWaiting: number
  /** Those that were made since the database was lost last: others may be dead without having said so. */
  #connections = new WeakMap<pg.PoolClient, GuardedConnection>()
  readonly #lent = new Set<GuardedConnection>()

  constructor(pool: pg.Pool, availability: Availability, { waiting }: Limits) {
    this.#pool = pool
    this.#availability = availability
    this.#mostWaiting = waiting
    pool.on('connect', client => this.#connections.set(client, new GuardedConnection(client, this.#lent)))
    availability.on('lost', () => {
      this.#connections = new WeakMap()
      // Nobody will answer them.
      for (const connection of this.#lent) connection.abandon()
    })
  }

  /** @throws {ServiceUnavailableHttpError} */
  async connect(): Promise<GuardedConnection> {
    const { loss } = this.#availability
    if (loss !== null) throw unavailable(loss.cause)
    if (this.#pool.waitingCount >= this.#mostWaiting) {
      throw unavailable(new Error(`${this.#mostWaiting} queries wait for a connection already.`))
    }
    try {
      for (;;) {
        const client = await this.#pool.connect()
        const connection = this.#connections.get(client)
        if (connection !== undefined) return connection.lend()
        client.release(true)
      }
    } catch (error) {
      throw unavailable(error)
    }
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}

/** A connection of the pool. */
class GuardedConnection implements PostgresPoolClient, Connection {
  readonly #client: pg.PoolClient
  readonly #lent: Set<GuardedConnection>
  #isBroken = false

  constructor(client: pg.PoolClient, lent: Set<GuardedConnection>) {
    this.#client = client
    this.#lent = lent
    client.on('error', () => {
      this.#isBroken = true
    })
  }

  lend(): this {
    this.#lent.add(this)
    return this
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  /** What Kysely streams by, which it has none of. */
  query(cursor: PostgresCursor<unknown> & pg.QueryConfig): never
  async query(query: string | pg.QueryConfig, values?: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#client.query(query, values && [...values])
    } catch (error) {
      // An answer may still come, and must not be taken for the next one's.
      if (isUnanswered(error)) this.abandon()
      throw this.#isBroken || isCondition(error) ? unavailable(error) : error
    }
  }

  release(): void {
    this.#lent.delete(this)
    this.#client.release(this.#isBroken)
  }

  /** Ends it, whatever it is being asked: that, and what it is asked from here on, fails at once. */
  abandon(): void {
    this.#isBroken = true
    this.#client.connection.stream.destroy()
  }
}
