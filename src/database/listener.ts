import pg from 'pg'
import type { Availability } from './availability.ts'
import type { Changes } from './changes.ts'
import { isAnswer } from './failures.ts'
import type { Limits } from './time-limits.ts'

/** In milliseconds: the wait before a lost connection is tried again, doubled with each attempt that fails. */
const retryAfter = { first: 50, last: 1000 }

/**
 * A connection of its own that hears of changes, and is made again whenever it is lost. It notices a server that is
 * silent, too, and so it is what knows whether the database is there.
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

  /** Rejects where the database cannot be reached; once listening, what is lost is made again. */
  async open(): Promise<void> {
    const client = new pg.Client(this.#config)
    this.#client = client
    // The "end" that follows an error says all that there is to do.
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
    }, this.#limits.beat)
  }

  /** Ends the connection where the server does not answer in time. Not by pg's own limits: where this process is late, they take an answer that lies unread for none. */
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
