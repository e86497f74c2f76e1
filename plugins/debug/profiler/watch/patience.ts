// Not the globals: tests replace those by a clock that stands still.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { Work } from './work.ts'

/** Waits a limited time for work that outlives its answer. */
export class Patience {
  readonly #milliseconds: number
  readonly #ends = new Set<() => void>()

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Calls back when nothing is under way any more, or when the time is over. */
  wait(work: Work, callback: () => void): void {
    const end = () => {
      clearTimeout(deadline)
      this.#ends.delete(end)
      callback()
    }
    const deadline = setTimeout(end, this.#milliseconds)
    this.#ends.add(end)
    const lookAgain = () => (work.isUnderWay ? onceIdle() : end())
    // One response hook ends before the next begins.
    const onceIdle = () =>
      work.whenIdle(() => {
        setImmediate(lookAgain)
      })
    onceIdle()
  }

  /** Ends all waiting now. */
  end(): void {
    for (const end of this.#ends) end()
  }
}
