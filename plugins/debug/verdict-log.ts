import { Attachment, toMicroseconds, type Recorder } from 'fastify-profiler'
import { isVerdict, type Verdict, verdicts } from '../checks.ts'

export interface TimedVerdict extends Verdict {
  /** When the check's first verdict was published, in milliseconds since the start of the request. */
  start: number
  /** Milliseconds from there to this verdict. */
  duration: number
}

/** Records the last verdict of each check for each profiled request. */
export class VerdictLog {
  readonly #requests = new Attachment<Map<string, TimedVerdict>>()
  readonly #receive = (message: unknown) => {
    if (isVerdict(message)) this.#keep(message)
  }

  /** @returns a function that stops listening */
  listen(): () => void {
    verdicts.subscribe(this.#receive)
    return () => {
      verdicts.unsubscribe(this.#receive)
    }
  }

  /** The verdicts by check, in the order the checks ran. */
  of(recorder: Recorder): ReadonlyMap<string, TimedVerdict> {
    return this.#requests.get(recorder) ?? new Map()
  }

  #keep(verdict: Verdict): void {
    const { recorder } = verdict.request
    // The request belongs to another application, or to the profiler itself.
    if (!recorder) return
    const { request, check, outcome, reason } = verdict
    const known = this.#requests.get(recorder) ?? new Map<string, TimedVerdict>()
    this.#requests.set(recorder, known)
    const now = recorder.now()
    const start = known.get(check)?.start ?? now
    known.set(check, { request, check, outcome, reason, start, duration: toMicroseconds(now - start) })
  }
}
