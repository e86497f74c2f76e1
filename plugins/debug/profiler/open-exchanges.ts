import type { Exchange } from './collect.ts'

/**
 * Exchanges that have no profile yet. An array, where most come and go at the end: V8's sets make a new table every
 * few of them, each old table refers to the new one, and so all requests since one of them grew old would stay in
 * memory until a full garbage collection.
 */
export class OpenExchanges {
  readonly #exchanges: Exchange[] = []

  get count (): number {
    return this.#exchanges.length
  }

  /** Those that are open now, in the order in which they came. */
  list (): Exchange[] {
    return [...this.#exchanges]
  }

  has (exchange: Exchange): boolean {
    return this.#exchanges.lastIndexOf(exchange) !== -1
  }

  add (exchange: Exchange): void {
    this.#exchanges.push(exchange)
  }

  /** @returns whether it was among them */
  remove (exchange: Exchange): boolean {
    const place = this.#exchanges.lastIndexOf(exchange)
    if (place === -1) return false
    this.#exchanges.splice(place, 1)
    return true
  }
}
