import type { Span } from '../base/profile.ts'

/** Holds the spans of one request within their bound. */
export class SpanList {
  readonly spans: Span[] = []
  /** The number of spans that were left out. */
  dropped = 0
  readonly #limit: number
  #isClosed = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Must be called before each `add`. @returns true if the list is full; the span then counts as dropped */
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

  /** Refuses further spans, and ends the unfinished ones at this time. @param end milliseconds since the arrival */
  close(end: number): void {
    this.#isClosed = true
    for (const span of this.spans) {
      if (span.outcome === 'unfinished') span.duration = end - span.start
    }
  }
}
