import type { Exchange } from './exchange.ts'

/**
 * Exchanges that have no profile yet, in no order. An array: V8's sets make a new table every few changes, each old table
 * refers to the new one, and so all requests since one of them grew old would stay in memory until a full garbage
 * collection.
 */
export class OpenExchanges {
  readonly #exchanges: Exchange[] = []

  get count(): number {
    return this.#exchanges.length
  }

  list(): Exchange[] {
    return [...this.#exchanges]
  }

  has(exchange: Exchange): boolean {
    return exchange.place !== null
  }

  add(exchange: Exchange): void {
    exchange.place = this.#exchanges.push(exchange) - 1
  }

  /** @returns whether it was among them */
  remove(exchange: Exchange): boolean {
    const { place } = exchange
    if (place === null) return false
    exchange.place = null
    // The last one takes its place: however many are open, ending one costs the same.
    const last = this.#exchanges.pop()
    if (last === undefined || last === exchange) return true
    last.place = place
    this.#exchanges[place] = last
    return true
  }
}
