import type { DispatchPointName, Exception } from '../profile.ts'

/**
 * Who told of an error: Fastify, code of the application that caught it, or a line of the log. If several did, the
 * first of these counts.
 */
const sources = ['thrown', 'caught', 'logged'] as const
export type FailureSource = (typeof sources)[number]

export interface Failure {
  error: unknown
  from: FailureSource
  /** Ids of the spans that threw it, in order: a caught error may be thrown again. */
  spans: number[]
  /** Ids of the error handlers that were called with it. */
  handlers: number[]
  /** The dispatch point in which Fastify itself failed; null if a span threw it, or if the application handled it. */
  phase: DispatchPointName | null
  /** Nobody caught it: before the response, or after it. Missing if somebody did. */
  uncaught?: Exception['uncaught']
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
  add(error: unknown, span: number | null, from: FailureSource = 'thrown'): void {
    const spans = span === null ? [] : [span]
    const known = this.of(error)
    if (known !== undefined) {
      known.spans.push(...spans)
      known.from = sources.find(source => source === from || source === known.from) ?? from
    } else if (this.list.length < this.#limit) this.list.push({ error, from, spans, handlers: [], phase: null })
    else if (error !== this.#lastDropped) {
      // The same error is added by each hook and handler it passes through.
      this.#lastDropped = error
      this.dropped++
    }
  }

  forget(): void {
    this.list.length = 0
    this.#lastDropped = undefined
  }

  /** The failure of an error; undefined if it was not remembered. */
  of(error: unknown): Failure | undefined {
    return this.list.find(failure => failure.error === error)
  }
}
