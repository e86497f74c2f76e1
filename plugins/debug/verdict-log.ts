import type { Recorder } from 'fastify-profiler'
import { isVerdict, type Verdict, verdicts } from '../verdicts.ts'

/** Records the last verdict of each check for each profiled request. */
export class VerdictLog {
  readonly #requests = new WeakMap<Recorder, Map<string, Verdict>>()
  readonly #hear = (message: unknown) => {
    if (isVerdict(message)) this.#keep(message)
  }

  /** @returns a function that stops listening */
  listen(): () => void {
    verdicts.subscribe(this.#hear)
    return () => {
      verdicts.unsubscribe(this.#hear)
    }
  }

  /** The verdicts by check, in the order the checks ran. */
  of(recorder: Recorder): ReadonlyMap<string, Verdict> {
    return this.#requests.get(recorder) ?? new Map()
  }

  #keep(verdict: Verdict): void {
    const { recorder } = verdict.request
    // The request belongs to another application, or to the profiler itself.
    if (!recorder) return
    const known = this.#requests.get(recorder) ?? new Map<string, Verdict>()
    this.#requests.set(recorder, known.set(verdict.check, verdict))
  }
}
