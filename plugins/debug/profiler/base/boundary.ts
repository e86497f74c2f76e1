import { attempt, isError, nameOfError, read, textOf } from './foreign-value.ts'

/** More different failures than these are told no more: they would only fill the log. */
const failuresTold = 20

/**
 * Stops the profiler's own failures, and logs each of them once. An application may hand over anything: getters that
 * throw, frozen objects, requests without a socket.
 */
export class Boundary {
  readonly #told = new Set<string>()
  readonly #complain: (error: unknown, message: string) => void

  constructor(complain: (error: unknown, message: string) => void) {
    this.#complain = complain
  }

  /** What a call answers; what stands for it where the call throws. */
  guard<Result>(call: () => Result, otherwise: Result): Result {
    try {
      return call()
    } catch (error) {
      this.tell(error)
      return otherwise
    }
  }

  /** Tells the log of a failure, once. */
  tell(error: unknown): void {
    // What cannot be profiled may not let itself be logged either.
    attempt(() => {
      const text = describeFailure(error)
      if (this.#told.has(text) || this.#told.size >= failuresTold) return
      this.#told.add(text)
      this.#complain(error, 'The profiler failed; the request did not')
    }, undefined)
  }
}

/** A failure in a few words. */
function describeFailure(error: unknown): string {
  return isError(error) ? `${nameOfError(error)}: ${textOf(read(error, 'message'))}` : textOf(error)
}
