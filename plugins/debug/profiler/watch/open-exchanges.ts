import type { Exchange } from './exchange.ts'

/**
 * Keeps the exchanges that have no profile yet, in no order.
 * For performance: a Set leaves old tables behind that keep ended requests alive until V8's next full garbage collection,
 * which makes a profiled request 18 % dearer (25 µs, `npm run -w bench profiler`).
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
    // The last one takes its place, so that ending one costs the same however many are open.
    const last = this.#exchanges.pop()
    if (last === undefined || last === exchange) return true
    last.place = place
    this.#exchanges[place] = last
    return true
  }
}
