import pg from 'pg'
import type { Availability } from './availability.ts'
import type { Changes } from './changes.ts'
import { isAnswer } from './failures.ts'
import type { Limits } from './limits.ts'

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

  constructor (config: pg.ClientConfig, changes: Changes, availability: Availability, limits: Limits) {
    this.#config = { ...config, application_name: 'portico listener', connectionTimeoutMillis: limits.listener, query_timeout: limits.listener }
    this.#changes = changes
    this.#availability = availability
    this.#limits = limits
  }

  /** Rejects where the database cannot be reached; once listening, what is lost is made again. */
  async open (): Promise<void> {
    const client = new pg.Client(this.#config)
    this.#client = client
    // The "end" that follows an error says all that there is to do.
    client.on('error', () => {})
    try {
      await client.connect()
      await this.#changes.listenOn(client)
    } catch (error) {
      await this.#end(client)
      throw error
    }
    this.#availability.find()
    client.once('end', () => this.#reopen())
    this.#beatLater(client)
  }

  async close (): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    if (this.#client !== undefined) await this.#end(this.#client)
  }

  #beatLater (client: pg.Client): void {
    this.#timer = setTimeout(() => {
      client.query('select 1').then(() => {
        this.#wait = retryAfter.first
        this.#beatLater(client)
      }, () => this.#end(client))
    }, this.#limits.beat)
  }

  /** In order, or else without the server. */
  async #end (client: pg.Client): Promise<void> {
    const late = setTimeout(() => client.connection.stream.destroy(), this.#limits.listener)
    await client.end()
    clearTimeout(late)
  }

  #reopen (): void {
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
