/** Milliseconds: a disk that is nearly full takes one profile, and not the next. */
const calming = 60_000

/** Reports each kind of trouble once, until it is over. */
export class Troubles {
  readonly #complain: (error: unknown, message: string) => void
  /** When each kind was last met. */
  readonly #met = new Map<string, number>()

  constructor(complain: (error: unknown, message: string) => void) {
    this.#complain = complain
  }

  meet(kind: string, error: unknown, message: string): void {
    const isKnown = this.#met.has(kind)
    this.#met.set(kind, Date.now())
    if (!isKnown) this.#complain(error, message)
  }

  /** Something went well: trouble that has not been met for a while is over, and is reported if it comes again. */
  calm(kind: string): void {
    const last = this.#met.get(kind)
    if (last !== undefined && Date.now() - last > calming) this.#met.delete(kind)
  }
}
