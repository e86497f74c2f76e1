import { EventEmitter } from 'node:events'
import type { Exchange } from './exchange.ts'

/**
 * Ends the exchanges of a connection that closes. While a pipelined response waits for the one before it, Node does not
 * tell it that the client has left.
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

  /** The open exchanges on the same connection; null for a request without a connection. */
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
