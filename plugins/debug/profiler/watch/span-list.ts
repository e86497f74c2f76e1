import type { Span } from '../base/profile.ts'

/** Holds the spans of one request within their bound. */
export class SpanList {
  readonly spans: Span[] = []
  /** Spans for which there was no room. */
  dropped = 0
  readonly #limit: number
  #isClosed = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether there is no room for another span, which is then counted as dropped. Asked before each `add`. */
  refuses(): boolean {
    if (this.#isClosed) return true
    if (this.spans.length < this.#limit) return false
    this.dropped++
    return true
  }

  /** @returns the span's id */
  add(span: Span): number {
    return this.spans.push(span) - 1
  }

  /** Takes no more spans. Those that never ended get the time they had. */
  close(end: number): void {
    this.#isClosed = true
    for (const span of this.spans) {
      if (span.outcome === 'unfinished') span.duration = end - span.start
    }
  }
}
