import { lengthOf, unblocked } from '../intervals.ts'
import type { Span, SpanKind } from '../profile.ts'
import type { RequestClock } from './running-calls.ts'

/** A span that operations share, with how many of them run. */
interface Shared {
  span: Span & Required<Pick<Span, 'shared'>>
  running: number
}

/** Shared spans of one kind. */
const sharedKept = 100

/**
 * The spans of operations beyond the limit of a profile. Those of one kind share a span from the moment at which one
 * begins until none runs, so that the sums of a profile stay whole.
 */
export class SharedSpans {
  readonly #clock: RequestClock
  readonly #running = new Map<SpanKind, Shared>()
  readonly #ended = new Map<SpanKind, Array<Shared['span']>>()

  constructor(clock: RequestClock) {
    this.#clock = clock
  }

  /** @returns a function that ends the operation. It takes the milliseconds that the operation only waited. */
  begin(operation: Span): (waited?: number) => void {
    const { kind } = operation
    const known = this.#running.get(kind)
    const shared = known ?? {
      span: { ...operation, outcome: 'continued', shared: { count: 0, time: 0, waited: 0 } },
      running: 0,
    }
    this.#running.set(kind, shared)
    shared.span.shared.count++
    shared.running++
    if (known !== undefined) mixNames(shared.span, operation)
    return (waited = 0) => {
      // Of several at once, others may have run meanwhile.
      if (shared.span.shared.count === 1) shared.span.shared.waited = waited
      shared.running--
      if (shared.running === 0) this.#end(shared)
    }
  }

  /** Ends those that still run. @returns the shared spans */
  close(): Span[] {
    for (const shared of this.#running.values()) {
      shared.span.outcome = 'unfinished'
      this.#end(shared)
    }
    const spans = [...this.#ended.values()].flat()
    this.#ended.clear()
    return spans
  }

  #end({ span }: Shared): void {
    this.#running.delete(span.kind)
    const { start, shared } = span
    const now = this.#clock.now()
    span.duration = now - start
    const time = lengthOf(unblocked({ start, end: now }, this.#clock.blockedWithin(start, now)))
    shared.time = Math.max(0, time - shared.waited)
    const ended = this.#ended.get(span.kind) ?? []
    ended.push(span)
    this.#ended.set(span.kind, ended.length > sharedKept ? halved(ended) : ended)
  }
}

/** Joins each second span with the one before it. */
function halved(spans: ReadonlyArray<Shared['span']>): Array<Shared['span']> {
  return spans.filter((span, index) => {
    const before = index % 2 === 1 ? spans[index - 1] : undefined
    if (before === undefined) return true
    mixNames(before, span)
    before.duration = span.start + span.duration - before.start
    before.shared.count += span.shared.count
    before.shared.time += span.shared.time
    before.shared.waited += span.shared.waited
    return false
  })
}

const mixed: Partial<Record<SpanKind, string>> = { query: 'more queries', http: 'more HTTP requests' }

/** A name for operations that may differ. */
function mixNames(span: Span, other: Span): void {
  if (span.name === other.name && span.detail === other.detail && span.location === other.location) return
  Object.assign(span, { name: mixed[span.kind] ?? 'more calls', detail: null, location: null })
}
