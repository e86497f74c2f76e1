import { EventEmitter } from 'node:events'
import type pg from 'pg'

interface ChangeEvents {
  /** Rows of a table changed, whoever changed them. A null key means that any row may have changed. */
  change: [table: string, key: string | null]
  /** Changes arrive from now on. Earlier ones may have been missed. */
  listening: []
  /** Changes may be missed until the next "listening". */
  deaf: []
}

/** Emits row changes, which triggers in the database announce by NOTIFY (migration 0002). */
export class Changes extends EventEmitter<ChangeEvents> {
  #areArriving = false

  constructor() {
    super()
    this.on('listening', () => {
      this.#areArriving = true
    }).on('deaf', () => {
      this.#areArriving = false
    })
  }

  /** Whether changes arrive: between "listening" and "deaf". */
  get areArriving(): boolean {
    return this.#areArriving
  }

  /** Listens for changes on this connection until it closes. */
  async listenOn(client: pg.ClientBase): Promise<void> {
    client.on('notification', ({ payload = '' }) => {
      const space = payload.indexOf(' ')
      if (space === -1) this.emit('change', payload, null)
      else this.emit('change', payload.slice(0, space), payload.slice(space + 1))
    })
    await client.query('listen portico_changes')
    this.emit('listening')
  }
}
