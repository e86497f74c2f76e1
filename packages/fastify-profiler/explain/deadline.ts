// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import { NoPlan } from './no-plan.ts'

/** Handles a rejection that is reported elsewhere. */
function ignore(): void {}

/** A moment at which explaining gives up, for databases that do not limit a statement's time. */
export class Deadline {
  readonly #expired: Promise<never>
  #timer: NodeJS.Timeout | undefined

  /** @param longest milliseconds */
  constructor(longest: number) {
    this.#expired = new Promise((_resolve, reject) => {
      this.#timer = setTimeout(() => reject(new NoPlan('The database takes too long to explain it.')), longest)
    })
    this.#expired.catch(ignore)
  }

  /**
   * Resolves as the step does, unless the deadline is earlier.
   * @param tooLate called with the result of a step that succeeds after the deadline
   * @throws {NoPlan} at the deadline
   */
  async before<Result>(step: Promise<Result>, tooLate?: (result: Result) => void): Promise<Result> {
    try {
      return await Promise.race([step, this.#expired])
    } catch (error) {
      step.then(tooLate).catch(ignore)
      throw error
    }
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }
}
