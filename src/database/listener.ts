import pg from 'pg'
import type { Availability } from './availability.ts'
import type { Changes } from './changes.ts'
import { isAnswer } from './failures.ts'
import type { Limits } from './guarded-pool.ts'

/** Milliseconds before a lost connection is reopened. The delay doubles with each failed attempt. */
const retryAfter = { first: 50, last: 1000 }

/**
 * Listens for changes on a dedicated connection, which it reopens whenever it is lost. Its heartbeat also notices a
 * silent server, so it decides whether the database is available.
 */
export class Listener {
  readonly #config: pg.ClientConfig
  readonly #changes: Changes
  readonly #availability: Availability
  readonly #limits: Limits
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #wait = retryAfter.first
  #closed = false

  constructor(config: pg.ClientConfig, changes: Changes, availability: Availability, limits: Limits) {
    this.#config = { ...config, application_name: 'portico listener' }
    this.#changes = changes
    this.#availability = availability
    this.#limits = limits
  }

  /** Connects and listens. Rejects if the database cannot be reached. From then on, lost connections are reopened. */
  async open(): Promise<void> {
    const client = new pg.Client(this.#config)
    this.#client = client
    // An "end" event follows every error and is handled below.
    client.on('error', () => {})
    try {
      await this.#inTime(client, client.connect())
      await this.#inTime(client, this.#changes.listenOn(client))
    } catch (error) {
      await this.#inTime(client, client.end())
      throw error
    }
    this.#availability.find()
    client.once('end', () => this.#reopen())
    this.#beatLater(client)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    if (this.#client !== undefined) await this.#inTime(this.#client, this.#client.end())
  }

  #beatLater(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      this.#inTime(client, client.query('select 1')).then(
        () => {
          this.#wait = retryAfter.first
          this.#beatLater(client)
        },
        () => client.end(),
      )
    }, this.#limits.heartbeat)
  }

  /**
   * Destroys the connection if the server does not answer in time. pg's own timeouts would also fire if this process
   * was blocked and the answer waits unread in the socket.
   */
  async #inTime<Result>(client: pg.Client, answer: Promise<Result>): Promise<Result> {
    let unread: NodeJS.Immediate | undefined
    const late = setTimeout(() => {
      unread = setImmediate(() => client.connection.stream.destroy(new Error('The database does not answer.')))
    }, this.#limits.listener)
    try {
      return await answer
    } finally {
      clearTimeout(late)
      clearImmediate(unread)
    }
  }

  #reopen(): void {
    clearTimeout(this.#timer)
    if (this.#closed) return
    this.#changes.emit('deaf')
    this.#timer = setTimeout(() => {
      this.open().catch((error: unknown) => {
        if (isAnswer(error)) this.#availability.find()
        else this.#availability.lose(error)
        this.#reopen()
      })
    }, this.#wait)
    this.#wait = Math.min(2 * this.#wait, retryAfter.last)
  }
}
