import pg from 'pg'
import type { Changes } from './changes.ts'

/** In milliseconds: the wait before a lost connection is tried again. */
const retryAfter = 250

/** A connection of its own that hears of changes, and is made again whenever it is lost. */
export class Listener {
  readonly #config: pg.ClientConfig
  readonly #changes: Changes
  #client: pg.Client | undefined
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor (config: pg.ClientConfig, changes: Changes) {
    this.#config = config
    this.#changes = changes
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
      await client.end()
      throw error
    }
    client.once('end', () => this.#reopen())
  }

  async close (): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    await this.#client?.end()
  }

  #reopen (): void {
    if (this.#closed) return
    this.#changes.emit('deaf')
    this.#retry = setTimeout(() => {
      this.open().catch(() => this.#reopen())
    }, retryAfter)
  }
}
