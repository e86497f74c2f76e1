// Imported, because tests replace the global timers.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { Work } from './work.ts'

/** Waits a limited time for work that outlives its response. */
export class Patience {
  readonly #milliseconds: number
  readonly #ends = new Set<() => void>()

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Calls back when the work is done, or when the time is over. */
  wait(work: Work, callback: () => void): void {
    const end = () => {
      clearTimeout(deadline)
      this.#ends.delete(end)
      callback()
    }
    const deadline = setTimeout(end, this.#milliseconds)
    this.#ends.add(end)
    const lookAgain = () => (work.isUnderWay ? onceIdle() : end())
    // Response hooks run one after another, so the next one may not have begun yet.
    const onceIdle = () =>
      work.whenIdle(() => {
        setImmediate(lookAgain)
      })
    onceIdle()
  }

  /** Calls back now, for all that wait. */
  end(): void {
    for (const end of this.#ends) end()
  }
}
