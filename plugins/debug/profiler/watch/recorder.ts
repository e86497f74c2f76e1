import type { IncomingMessage } from 'node:http'
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { ProfileBounds } from '../base/bounds.ts'
import { isError, read } from '../base/foreign-value.ts'
import type { DispatchPointName, Location, Span, SpanKind, SpanOutcome } from '../base/profile.ts'
import { Failures, type Failure } from './recorded-failures.ts'
import { RequestClock } from './request-clock.ts'
import { RunningCalls } from './running-calls.ts'
import { SpanList } from './span-list.ts'
import { newToken } from './token.ts'
import { Work } from './work.ts'

/** What a panel says of a span of its own; the rest is filled in. */
export interface SpanDescription {
  kind: SpanKind
  name: string
  detail?: string | null
  plugin?: string | null
  location?: Location | null
}

/** A span that is under way. Ending it twice does nothing. */
export interface OpenSpan {
  /** Its place in the profile's spans; null where there was no room for it. */
  readonly id: number | null
  /** What is only known now may be said now. */
  end(outcome?: SpanOutcome, description?: Partial<Pick<SpanDescription, 'name' | 'detail'>>): void
}

/** A line as the logger wrote it; parsed when the request is over. */
export interface RecordedLine {
  start: number
  line: string
}

const ignoredSpan: OpenSpan = { id: null, end() {} }

/** More would not be read. */
export const notesKept = 20

/** With more than these, no text of the profile is shown: a secret might be in it. */
const secretsKept = 1000

/**
 * Takes down what happens in one request: cheap to add to, bounded, and forgotten once it is stored.
 * A panel keeps what it records besides in a WeakMap of its own, keyed by the recorder.
 */
export class Recorder {
  /** 72 random bits, URL-safe. */
  readonly token = newToken()
  readonly parent: string | null
  readonly time = Date.now()
  readonly raw: IncomingMessage
  readonly method: string
  readonly url: string
  readonly lines: RecordedLine[] = []
  readonly notes: string[] = []
  readonly secrets = new Set<string>()
  readonly marks = new Map<DispatchPointName, number>()
  readonly loopAtStart: EventLoopUtilization = performance.eventLoopUtilization()
  readonly heapAtStart = getHeapStatistics().used_heap_size
  /** The address the connection came from; asked at once, since a closed socket no longer tells. */
  readonly remoteAddress: string | null
  readonly clock = new RequestClock()
  /** Spans that panels or response hooks still have under way: the profile waits for these, for a while. */
  readonly work = new Work()
  /** For the tracer. */
  readonly calls: RunningCalls
  droppedLines = 0
  droppedNotes = 0
  droppedSecrets = 0
  finished = false
  /** Milliseconds until the client had its answer, or left. */
  ended: number | null = null

  readonly #bounds: ProfileBounds
  readonly #spans: SpanList
  readonly #failures: Failures

  constructor(raw: IncomingMessage, parent: string | null, bounds: ProfileBounds) {
    this.raw = raw
    this.parent = parent
    const { method = 'GET', url = '/', socket } = raw
    this.method = method
    this.url = url
    // Adapters make requests that have no socket.
    this.remoteAddress = socket?.remoteAddress ?? null
    this.#bounds = bounds
    this.#spans = new SpanList(bounds.spans)
    this.#failures = new Failures(bounds.exceptions)
    this.calls = new RunningCalls(this.#spans, this.clock, this.work)
  }

  get spans(): Span[] {
    return this.#spans.spans
  }

  get droppedSpans(): number {
    return this.#spans.dropped
  }

  get failures(): Failure[] {
    return this.#failures.list
  }

  get droppedFailures(): number {
    return this.#failures.dropped
  }

  /** Milliseconds since the request came in. */
  now(): number {
    return this.clock.now()
  }

  /** Makes a call of the profiler's that takes none of the request's time: the clock stands still meanwhile. */
  aside<Result>(call: () => Result): Result {
    return this.clock.aside(call)
  }

  /** Adds a span of a panel's to the waterfall: a query, a cache read. The profile waits for its end. */
  span(description: SpanDescription): OpenSpan {
    if (this.#spans.refuses()) return ignoredSpan
    const span = this.#describe(description, this.now())
    const id = this.#spans.add(span)
    this.work.begin()
    let open = true
    return {
      id,
      end: (outcome = 'continued', description = {}) => {
        if (!open) return
        open = false
        Object.assign(span, description)
        span.duration = this.now() - span.start
        span.outcome = outcome
        this.work.end()
      },
    }
  }

  /** Adds a span that is over: for sources that tell only afterwards how long it took. */
  record(description: SpanDescription, duration: number): void {
    if (this.#spans.refuses()) return
    const span = this.#describe(description, Math.max(0, this.now() - duration))
    span.duration = duration
    span.outcome = 'continued'
    this.#spans.add(span)
  }

  /** An error that somebody handled, but that belongs on the exception panel. */
  exception(error: unknown): void {
    this.#failures.add(error, null)
  }

  /** A sentence about what could not be recorded. */
  note(sentence: string): void {
    if (this.notes.includes(sentence)) return
    if (this.notes.length < notesKept) this.notes.push(sentence)
    else this.droppedNotes++
  }

  /** Masks this text wherever it turns up in the profile: for what only a panel knows to be a secret. */
  conceal(secret: string): void {
    if (this.secrets.size < secretsKept || this.secrets.has(secret)) this.secrets.add(secret)
    else this.droppedSecrets++
  }

  mark(point: DispatchPointName): void {
    if (!this.marks.has(point)) this.marks.set(point, this.now())
  }

  line(line: string): void {
    if (this.finished) return
    if (this.lines.length < this.#bounds.logs) this.lines.push({ start: this.now(), line })
    else this.droppedLines++
  }

  /** For the tracer: a call threw this error. */
  threw(error: unknown, call: number | null): void {
    this.#failures.add(error, call)
    if (call !== null) this.calls.close(call, 'threw')
  }

  /** For the tracer: an error is on its way to the error handlers. What runs now has failed; if nothing does, Fastify has. */
  failing(error: unknown): void {
    if (this.#failures.of(error)?.spans.length) return
    const { culprit } = this.calls
    if (culprit === null) return this.#failedBetweenCalls(error)
    if (!isTimeout(error)) return this.threw(error, culprit)
    this.#failures.add(error, culprit)
    this.calls.abandon(culprit)
  }

  /** For the tracer: this error handler was given it. */
  handling(error: unknown, span: number): void {
    this.#failures.of(error)?.handlers.push(span)
  }

  /** Nothing is recorded any more. */
  finish(): void {
    this.finished = true
    this.#spans.close(this.now())
    this.calls.clear()
  }

  /** Lets go of all that others made, but for secrets: something of it cannot be read. */
  forget(): void {
    this.spans.length = 0
    this.lines.length = 0
    this.failures.length = 0
    this.calls.clear()
  }

  #failedBetweenCalls(error: unknown): void {
    this.#failures.add(error, null)
    const failure = this.#failures.of(error)
    if (failure === undefined) return
    failure.phase ??= this.#phase()
    // What is interrupted was reached, though no hook of it may have run.
    this.mark(failure.phase)
  }

  /** Where the request is while nothing of the application's runs: Fastify reads the input, or writes the answer. */
  #phase(): DispatchPointName {
    if (!this.marks.has('kernel.request')) return 'kernel.request'
    return this.marks.has('kernel.controller_arguments') || this.marks.has('kernel.response')
      ? 'kernel.response'
      : 'kernel.controller'
  }

  #describe(description: SpanDescription, start: number): Span {
    const parent = this.calls.newest
    return {
      parent,
      kind: description.kind,
      name: description.name,
      hook: null,
      routeLevel: false,
      dispatchPoint: parent === null ? null : (this.spans[parent]?.dispatchPoint ?? null),
      plugin: description.plugin ?? null,
      location: description.location ?? null,
      start,
      duration: 0,
      outcome: 'unfinished',
      detail: description.detail ?? null,
    }
  }
}

function isTimeout(error: unknown): boolean {
  return isError(error) && read(error, 'code') === 'FST_ERR_HANDLER_TIMEOUT'
}
