// Not the globals: tests replace those by a clock that stands still.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { Recorder } from './recorder.ts'

/** Waits a limited time for work that outlives its answer. */
export class Patience {
  readonly #milliseconds: number
  readonly #ends = new Set<() => void>()

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Calls back when nothing of the request is under way any more, or when the time is over. */
  wait(recorder: Recorder, callback: () => void): void {
    const end = () => {
      clearTimeout(deadline)
      this.#ends.delete(end)
      callback()
    }
    const deadline = setTimeout(end, this.#milliseconds)
    this.#ends.add(end)
    const lookAgain = () => (recorder.underWay > 0 ? onceIdle() : end())
    // One response hook ends before the next begins.
    const onceIdle = () =>
      recorder.whenIdle(() => {
        setImmediate(lookAgain)
      })
    onceIdle()
  }

  /** Ends all waiting now. */
  end(): void {
    for (const end of this.#ends) end()
  }
}
