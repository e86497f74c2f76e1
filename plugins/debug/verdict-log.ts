import type { Recorder } from 'fastify-profiler'
import { isVerdict, type Verdict, verdicts } from '../verdicts.ts'

/** Hears of every verdict on a request that is profiled, and keeps the last of each check under the request. */
export class VerdictLog {
  readonly #requests = new WeakMap<Recorder, Map<string, Verdict>>()
  readonly #hear = (message: unknown) => {
    if (isVerdict(message)) this.#keep(message)
  }

  /** @returns the function that stops it */
  listen(): () => void {
    verdicts.subscribe(this.#hear)
    return () => {
      verdicts.unsubscribe(this.#hear)
    }
  }

  /** By check, in the order in which the checks were reached. */
  of(recorder: Recorder): ReadonlyMap<string, Verdict> {
    return this.#requests.get(recorder) ?? new Map()
  }

  #keep(verdict: Verdict): void {
    const { recorder } = verdict.request
    // The request of another application, or one of the profiler's own.
    if (!recorder) return
    const known = this.#requests.get(recorder) ?? new Map<string, Verdict>()
    this.#requests.set(recorder, known.set(verdict.check, verdict))
  }
}
