import type { Exchange } from './exchange.ts'

/**
 * Keeps the exchanges that have no profile yet, unordered.
 * For performance: a Set's old hash tables keep ended requests alive until V8's next full garbage collection.
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
    // Moves the last one to the free place, so that removing takes constant time.
    const last = this.#exchanges.pop()
    if (last === undefined || last === exchange) return true
    last.place = place
    this.#exchanges[place] = last
    return true
  }
}
