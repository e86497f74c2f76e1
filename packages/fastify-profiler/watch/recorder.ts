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
import { parentIn } from './trace-context.ts'
import { Work } from './work.ts'

/** The properties of a span that a panel sets. */
export interface SpanDescription {
  kind: SpanKind
  name: string
  detail?: string | null
  plugin?: string | null
  location?: Location | null
}

/** A span that has begun. Ending it twice does nothing. */
export interface OpenSpan {
  /** Its index in the profile's spans; null if the profile was full. */
  readonly id: number | null
  /** Ends the span. The description replaces what was not known when it began. */
  end(outcome?: SpanOutcome, description?: Partial<Pick<SpanDescription, 'name' | 'detail' | 'location'>>): void
}

/** A line as the logger wrote it. It is parsed after the request. */
export interface RecordedLine {
  start: number
  line: string
  location: Location | null
}

/** What all recorders of an application share. */
export interface RecorderParts {
  bounds: ProfileBounds
  /** The origins or hosts that get the headers of a trace. */
  propagateTo: readonly string[]
}

const ignoredSpan: OpenSpan = { id: null, end() {} }

export const notesKept = 20

/** With more secrets than these, the profile contains no text, since it might contain one of them. */
const secretsKept = 1000

/**
 * Records what happens in one request, within bounds, until the profile is stored. Panels keep their own records as
 * Attachments of the recorder.
 */
export class Recorder {
  /** 72 random bits, URL-safe. */
  readonly token = newToken()
  readonly parent: string | null
  /** Whether the profiler has sent the request, to repeat its parent. */
  isReplay?: true
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
  /** The client's address, read at once because a closed socket has none. */
  readonly remoteAddress: string | null
  readonly clock = new RequestClock()
  /** The open spans of panels and response hooks. The profile waits for these, for a limited time. */
  readonly work = new Work()
  /** For the tracer. */
  readonly calls: RunningCalls
  /** Carries what features record, as Attachments. */
  records: object = {}
  droppedLines = 0
  droppedNotes = 0
  droppedSecrets = 0
  finished = false
  /** Milliseconds until the response was sent or the client left; null before. */
  ended: number | null = null

  readonly #bounds: ProfileBounds
  readonly #propagateTo: readonly string[]
  readonly #whenEnded: Array<() => void> = []
  readonly #spans: SpanList
  readonly #failures: Failures

  constructor(raw: IncomingMessage, parent: string | null, { bounds, propagateTo }: RecorderParts) {
    this.raw = raw
    this.parent = parent ?? parentIn(raw)
    const { method = 'GET', url = '/', socket } = raw
    this.method = method
    this.url = url
    // Some adapters make requests without a socket.
    this.remoteAddress = socket?.remoteAddress ?? null
    this.#bounds = bounds
    this.#propagateTo = propagateTo
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

  /** Milliseconds since the request arrived. */
  now(): number {
    return this.clock.now()
  }

  /** Makes a call with the request's clock stopped. */
  aside<Result>(call: () => Result): Result {
    return this.clock.aside(call)
  }

  /** Begins a panel's span: a query, a cache read. The profile waits for its end. */
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

  /** Adds a panel's span that has just ended. @param duration milliseconds */
  record(description: SpanDescription, duration: number): void {
    if (this.#spans.refuses()) return
    const span = this.#describe(description, Math.max(0, this.now() - duration))
    span.duration = duration
    span.outcome = 'continued'
    this.#spans.add(span)
  }

  /** Adds an error that was handled, but that belongs on the exception panel. */
  exception(error: unknown): void {
    this.#failures.add(error, null)
  }

  /** Adds a sentence about what could not be recorded. */
  note(sentence: string): void {
    if (this.notes.includes(sentence)) return
    if (this.notes.length < notesKept) this.notes.push(sentence)
    else this.droppedNotes++
  }

  /** Masks a text wherever it occurs in the profile: for secrets that only a panel knows. */
  conceal(secret: string): void {
    if (this.secrets.size < secretsKept || this.secrets.has(secret)) this.secrets.add(secret)
    else this.droppedSecrets++
  }

  /** Whether requests to this origin get the headers of a trace. */
  propagatesTo(origin: string): boolean {
    return this.#propagateTo.some(own => origin === own || origin.replace(/^https?:\/\//, '') === own)
  }

  mark(point: DispatchPointName): void {
    if (!this.marks.has(point)) this.marks.set(point, this.now())
  }

  /** Called before the response's hooks, or if it has none, with its head. */
  answering(): void {
    this.calls.answering()
    this.mark('kernel.response')
  }

  line(line: string, location: Location | null = null): void {
    if (this.finished) return
    if (this.lines.length < this.#bounds.logs) this.lines.push({ start: this.now(), line, location })
    else this.droppedLines++
  }

  /** For the tracer: a call has thrown an error. */
  threw(error: unknown, call: number | null): void {
    this.#failures.add(error, call)
    if (call !== null) this.calls.close(call, 'threw')
  }

  /** For the tracer: Fastify handles an error. The running call has thrown it, or Fastify itself if none is running. */
  failing(error: unknown): void {
    if (this.#failures.of(error)?.spans.length) return
    const { culprit } = this.calls
    if (culprit === null) return this.#failedBetweenCalls(error)
    if (!isTimeout(error)) return this.threw(error, culprit)
    this.#failures.add(error, culprit)
    this.calls.abandon(culprit)
  }

  /** For the tracer: an error handler is called with an error. */
  handling(error: unknown, span: number): void {
    this.#failures.of(error)?.handlers.push(span)
  }

  /** Calls back once: when the response has ended, or when recording stops. */
  whenEnded(call: () => void): void {
    this.#whenEnded.push(call)
  }

  /** The response has ended: it was sent, or its client has left. */
  end(): void {
    this.ended = this.now()
    this.#callBack()
  }

  /** Stops recording, and closes all spans. */
  finish(): void {
    this.finished = true
    this.#callBack()
    this.#spans.close(this.now())
    this.calls.clear()
  }

  /** Drops all recorded values except secrets. Called if one of them cannot be read. */
  forget(): void {
    this.spans.length = 0
    this.lines.length = 0
    this.failures.length = 0
    this.calls.clear()
    this.records = {}
  }

  #callBack(): void {
    for (const call of this.#whenEnded.splice(0)) call()
  }

  #failedBetweenCalls(error: unknown): void {
    this.#failures.add(error, null)
    const failure = this.#failures.of(error)
    if (failure === undefined) return
    failure.phase ??= this.#phase()
    // An interrupted dispatch point was reached, even if none of its hooks ran.
    this.mark(failure.phase)
  }

  /** The dispatch point while no application code runs: Fastify is reading the input or writing the response. */
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
