/** Mulberry32, a seeded generator: the same seed repeats the same run. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** At least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, at least 0 and below the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  among<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('There is nothing to choose from.')
    return item
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** Text of this many characters, each one byte. */
  bytes(length: number): string {
    return Array.from({ length }, () => String.fromCharCode(this.below(256))).join('')
  }

  word(length = 1 + this.below(12)): string {
    return Array.from({ length }, () => this.among(['a', 'b', 'c', 'e', 'x', 'z', '0', '9', '-', '_'])).join('')
  }
}
