import { attempt, isError, nameOfError, read, textOf } from './foreign-value.ts'

/** Further distinct failures are not logged: they would only fill the log. */
const failuresTold = 20

/**
 * Turns the profiler's own failures into log lines, one a kind. An application can pass in anything: getters that
 * throw, frozen objects, requests without a socket.
 */
export class Boundary {
  readonly #told = new Set<string>()
  readonly #complain: (error: unknown, message: string) => void

  constructor(complain: (error: unknown, message: string) => void) {
    this.#complain = complain
  }

  /** Returns the call's result, or `otherwise` if it throws. */
  guard<Result>(call: () => Result, otherwise: Result): Result {
    try {
      return call()
    } catch (error) {
      this.tell(error)
      return otherwise
    }
  }

  /** Logs a failure, unless it has been logged before. */
  tell(error: unknown): void {
    // A value that breaks the profiler may break the logger too.
    attempt(() => {
      const text = describeFailure(error)
      if (this.#told.has(text) || this.#told.size >= failuresTold) return
      this.#told.add(text)
      this.#complain(error, 'The profiler failed; the request did not')
    }, undefined)
  }
}

function describeFailure(error: unknown): string {
  return isError(error) ? `${nameOfError(error)}: ${textOf(read(error, 'message'))}` : textOf(error)
}

type Complain = (error: unknown, message: string) => void

/** The log of the application that was installed last; null before. */
let report: Complain | null = null

/** Catches the failures of all drivers. They are shared by all applications of the process. */
export const driverBoundary = new Boundary((error, message) => report?.(error, message))

/** Logs failures of drivers to the application that was installed last. */
export function complainTo(log: Complain): void {
  report = log
}

const told = new Set<string>()

/** Writes a sentence to stderr, once in a process. The application's log stays as it is. */
export function tell(sentence: string): void {
  if (told.has(sentence)) return
  told.add(sentence)
  process.stderr.write(`fastify-profiler: ${sentence}\n`)
}

/** Writes to stderr that the profiler has failed. */
export function complain(error: unknown, message: string): void {
  tell(error instanceof Error ? `${message}: ${error.message}` : message)
}
