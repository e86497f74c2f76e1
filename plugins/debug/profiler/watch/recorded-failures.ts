import type { DispatchPointName } from '../base/profile.ts'

export interface Failure {
  error: unknown
  /** Ids of the spans that threw it, the first one first: who catches an error may throw it again. */
  spans: number[]
  /** Ids of the error handlers that it was given to. */
  handlers: number[]
  /** The dispatch point that Fastify itself failed in; null where a span did, or where the application handled it. */
  phase: DispatchPointName | null
}

/** Remembers each error of one request once. */
export class Failures {
  readonly list: Failure[] = []
  dropped = 0
  readonly #limit: number
  #lastDropped: unknown

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Remembers an error, or one more span that threw it. */
  add(error: unknown, span: number | null): void {
    const spans = span === null ? [] : [span]
    const known = this.of(error)
    if (known !== undefined) known.spans.push(...spans)
    else if (this.list.length < this.#limit) this.list.push({ error, spans, handlers: [], phase: null })
    else if (error !== this.#lastDropped) {
      // Each hook and handler that an error passes tells of it.
      this.#lastDropped = error
      this.dropped++
    }
  }

  /** What is known of an error; undefined for one that was not remembered. */
  of(error: unknown): Failure | undefined {
    return this.list.find(failure => failure.error === error)
  }
}
