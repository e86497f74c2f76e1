import { attempt } from '../base/foreign-value.ts'

/** Milliseconds without trouble until it counts as over. A disk that is nearly full fails only now and then. */
const calming = 60_000

/** Reports each kind of trouble once, until it is over. */
export class Troubles {
  readonly #complain: (error: unknown, message: string) => void
  /** The time at which each kind last occurred. */
  readonly #met = new Map<string, number>()

  constructor(complain: (error: unknown, message: string) => void) {
    this.#complain = complain
  }

  meet(kind: string, error: unknown, message: string): void {
    const isKnown = this.#met.has(kind)
    this.#met.set(kind, Date.now())
    // A timer may call this, so a logger that throws would end the process.
    if (!isKnown) attempt(() => this.#complain(error, message), undefined)
  }

  /** Called when something succeeds. After a minute without trouble, the next one is reported again. */
  calm(kind: string): void {
    const last = this.#met.get(kind)
    if (last !== undefined && Date.now() - last > calming) this.#met.delete(kind)
  }
}
