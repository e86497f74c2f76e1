import { EventEmitter } from 'node:events'
import type { Exchange } from './exchange.ts'

/**
 * Tells which exchanges end with their connection: a response that waits behind another one is not told when the client
 * leaves.
 */
export class Connections {
  readonly #exchanges = new WeakMap<EventEmitter, Exchange[]>()
  readonly #closed: (exchange: Exchange) => void

  /** @param closed called for each exchange whose connection has closed */
  constructor(closed: (exchange: Exchange) => void) {
    this.#closed = closed
  }

  add(exchange: Exchange): void {
    this.#exchangesOn(exchange)?.push(exchange)
  }

  remove(exchange: Exchange): void {
    const exchanges = this.#exchangesOn(exchange) ?? []
    const place = exchanges.indexOf(exchange)
    if (place !== -1) exchanges.splice(place, 1)
  }

  /** The open exchanges on the same connection; null for a request that was made without one. */
  #exchangesOn({ raw: { socket } }: Exchange): Exchange[] | null {
    if (!(socket instanceof EventEmitter)) return null
    const known = this.#exchanges.get(socket)
    if (known !== undefined) return known
    const exchanges: Exchange[] = []
    this.#exchanges.set(socket, exchanges)
    socket.once('close', () => {
      for (const exchange of [...exchanges]) this.#closed(exchange)
    })
    return exchanges
  }
}
