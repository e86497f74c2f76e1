import { EventEmitter } from 'node:events'
import type pg from 'pg'

interface ChangeEvents {
  /** Rows of a table were changed, by anyone: those under one key, or under any (null). */
  change: [table: string, key: string | null]
  /** From here on changes arrive; what came before may have been missed. */
  listening: []
  /** Changes may be missed until the next "listening". */
  deaf: []
}

/** The changes of the database's rows, as its triggers tell of them (migration 0002). */
export class Changes extends EventEmitter<ChangeEvents> {
  /** Hears the changes on this connection, for as long as it lives. */
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
