import type { DispatchPointName } from '../base/profile.ts'

export interface Failure {
  error: unknown
  /** Ids of the spans that threw it, in order: a caught error may be thrown again. */
  spans: number[]
  /** Ids of the error handlers that were called with it. */
  handlers: number[]
  /** The dispatch point in which Fastify itself failed; null if a span threw it, or if the application handled it. */
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
      // The same error is added by each hook and handler it passes through.
      this.#lastDropped = error
      this.dropped++
    }
  }

  /** The failure of an error; undefined if it was not remembered. */
  of(error: unknown): Failure | undefined {
    return this.list.find(failure => failure.error === error)
  }
}
