import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { getHeapStatistics, type HeapInfo } from 'node:v8'
import type { ProfileBounds } from '../bounds.ts'
import { isError, read } from '../foreign-value.ts'
import type { ConnectionWait, DispatchPointName, Location, Span, SpanKind, SpanOutcome } from '../profile.ts'
import { eventLoop } from './blocked-loop.ts'
import { type Failure, Failures, type FailureSource } from './failures.ts'
import { SharedSpans } from './shared-spans.ts'
import type { RequestIdentity } from './request-identity.ts'
import { type RequestClock, RunningCalls, SpanList, Work } from './running-calls.ts'

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
  /**
   * Ends the span. The description replaces what was not known when it began.
   * @param at milliseconds since the start of the request. Default: now
   */
  end(
    outcome?: SpanOutcome,
    description?: Partial<Pick<SpanDescription, 'name' | 'detail' | 'location'>>,
    at?: number,
  ): void
  /** Sets what it waits for, or has waited for; null for nothing worth telling. */
  waitsFor(wait: ConnectionWait | null): void
}

/** A line as the logger wrote it. It is parsed after the request. */
export interface RecordedLine {
  start: number
  line: string
  location: Location | null
}

/** What a process has used at one moment of a request. */
interface ProcessUse {
  loop: EventLoopUtilization
  heap: HeapInfo
  /** The milliseconds for which the request's clock was stopped. */
  stoodStill: number
}

/** What all recorders of an application share. */
export interface RecorderParts {
  bounds: ProfileBounds
  /** The origins or hosts that get the headers of a trace. */
  propagateTo: readonly string[]
}

const ignoredSpan: OpenSpan = { id: null, end() {}, waitsFor() {} }

export const notesKept = 20

function pluralOf(kind: SpanKind): string {
  return kind === 'query' ? 'queries' : kind === 'http' ? 'HTTP requests' : 'calls'
}

/** Operations of one kind that have spans of their own. More would push the hooks of the request off the timeline. */
const operationsKept = 1000

/** With more secrets than these, the profile contains no text, since it might contain one of them. */
const secretsKept = 1000

/**
 * Records what happens in one request, within bounds, until its work is done or has taken too long. Panels keep their
 * own records as Attachments of the recorder.
 */
export class Recorder implements RequestIdentity {
  /** Its own scope. */
  readonly recorder: Recorder = this
  readonly token: string
  readonly parent: string | null
  readonly trace: string | null
  /** Whether the profiler has sent the request, to repeat its parent. */
  isReplay?: true
  readonly time = Date.now()
  readonly method: string
  readonly url: string
  readonly lines: RecordedLine[] = []
  readonly notes: string[] = []
  readonly secrets = new Set<string>()
  readonly marks = new Map<DispatchPointName, number>()
  readonly loopAtStart: EventLoopUtilization = performance.eventLoopUtilization()
  readonly heapAtStart = getHeapStatistics().used_heap_size
  readonly remoteAddress: string | null
  readonly clock: RequestClock
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
  /** Records what the request does once this recorder has finished (late-work.ts); null if nothing does. */
  successor: { readonly open: Recorder | null } | null = null

  readonly #bounds: ProfileBounds
  readonly #propagateTo: readonly string[]
  readonly #whenEnded: Array<() => void> = []
  readonly #spans: SpanList
  readonly #more: SharedSpans
  readonly #failures: Failures
  /** Taken when the response ends, since its profile is made later; null before. */
  #usedAtEnd: ProcessUse | null = null
  /** How many operations of each kind have spans. */
  readonly #operations: Partial<Record<SpanKind, number>> = {}

  constructor(identity: RequestIdentity, { bounds, propagateTo }: RecorderParts) {
    this.token = identity.token
    this.parent = identity.parent
    this.trace = identity.trace
    this.clock = identity.clock
    this.method = identity.method
    this.url = identity.url
    this.remoteAddress = identity.remoteAddress
    this.#bounds = bounds
    this.#propagateTo = propagateTo
    this.#spans = new SpanList(bounds.spans)
    this.#more = new SharedSpans(this.clock)
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

  /** How many lines were written. */
  get lineCount(): number {
    return this.lines.length + this.droppedLines
  }

  get droppedFailures(): number {
    return this.#failures.dropped
  }

  /** What records the request now: this one, or its successor; null if nothing does any more. */
  get open(): Recorder | null {
    return this.finished ? (this.successor?.open ?? null) : this
  }

  /** Milliseconds since the request arrived. */
  now(): number {
    return this.clock.now()
  }

  /** What the process has used until the response ended, or until now. */
  used(): ProcessUse {
    const { stoodStill } = this.clock
    return this.#usedAtEnd ?? { loop: performance.eventLoopUtilization(), heap: getHeapStatistics(), stoodStill }
  }

  /** Makes a call with the request's clock stopped. */
  aside<Result>(call: () => Result): Result {
    return this.clock.aside(call)
  }

  /** Begins a panel's span: a query, a cache read. The profile waits for its end. */
  span(description: SpanDescription): OpenSpan {
    if (this.finished) return ignoredSpan
    const span = this.#describe(description, this.now())
    const id = this.#add(span)
    const endShared = id === null ? this.#more.begin(span) : null
    this.work.begin()
    let open = true
    return {
      id,
      end: (outcome = 'continued', description = {}, at = this.now()) => {
        if (!open) return
        open = false
        if (endShared === null) {
          Object.assign(span, description)
          span.duration = Math.max(0, at - span.start)
          span.outcome = outcome
        } else endShared(span.wait?.duration)
        this.work.end()
      },
      waitsFor(wait) {
        if (wait === null) delete span.wait
        else span.wait = wait
      },
    }
  }

  /** @returns the span's id; null if there are too many */
  #add(span: Span): number | null {
    const { kind } = span
    const count = this.#operations[kind] ?? 0
    if (count >= operationsKept || this.#spans.isFull) {
      this.note(
        `The timeline shows the first ${count.toLocaleString('en')} ${pluralOf(kind)} one by one, and later ones together.`,
      )
      return null
    }
    this.#operations[kind] = count + 1
    return this.#spans.add(span)
  }

  /** Adds a panel's span that has just ended. @param duration milliseconds */
  record(description: SpanDescription, duration: number): void {
    if (this.finished) return
    const span = this.#describe(description, Math.max(0, this.now() - duration))
    span.duration = duration
    span.outcome = 'continued'
    if (this.#add(span) === null) this.#more.begin(span)()
  }

  /** Adds an error that was handled, but belongs on the exception panel. It is late work once recording has ended. */
  exception(error: unknown, from: FailureSource = 'caught'): void {
    if (this.finished) this.open?.exception(error, from)
    else this.#failures.add(error, null, from)
  }

  /** Nobody has caught an error of the request. */
  uncaught(error: unknown, when: NonNullable<Failure['uncaught']>): void {
    this.exception(error)
    const failure = this.#failures.of(error)
    if (failure !== undefined) failure.uncaught = when
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
    if (!this.finished && !this.marks.has(point)) this.marks.set(point, this.now())
  }

  /** Called before the response's hooks, or if it has none, with its head. */
  answering(): void {
    this.calls.answering()
    this.mark('kernel.response')
  }

  /** Called when the application writes the head of the response itself, past Fastify. */
  writing(): void {
    this.calls.writing()
    this.mark('kernel.response')
  }

  /** Called when the application hijacks the reply. Once the function that did so has ended, others write it. */
  hijacking(): void {
    this.calls.hijacking(() => this.mark('kernel.response'))
  }

  line(line: string, location: Location | null = null): void {
    if (this.finished) return
    if (this.lines.length < this.#bounds.logs) this.lines.push({ start: this.now(), line, location })
    else this.droppedLines++
  }

  /** For the tracer: a call has thrown an error. */
  threw(error: unknown, call: number | null): void {
    if (this.finished) return
    this.#failures.add(error, call)
    if (call !== null) this.calls.close(call, 'threw')
  }

  /** For the tracer: Fastify handles an error. The running call has thrown it, or Fastify itself if none is running. */
  failing(error: unknown): void {
    if (this.finished || this.#failures.of(error)?.spans.length) return
    const { culprit } = this.calls
    if (culprit === null) return this.#failedBetweenCalls(error)
    if (!isTimeout(error)) return this.threw(error, culprit)
    this.#failures.add(error, culprit)
    this.calls.abandon(culprit)
  }

  /** For the tracer: an error handler is called with an error. */
  handling(error: unknown, span: number): void {
    if (!this.finished) this.#failures.of(error)?.handlers.push(span)
  }

  /** Calls back once: when the response has ended, or when recording stops. */
  whenEnded(call: () => void): void {
    this.#whenEnded.push(call)
  }

  /** The response has ended: it was sent, or its client has left. */
  end(): void {
    this.ended = this.now()
    this.#usedAtEnd = this.used()
    this.#callBack()
  }

  /** Stops recording, and closes all spans. */
  finish(): void {
    this.finished = true
    this.#callBack()
    this.#spans.close(this.now(), this.ended)
    this.spans.push(...this.#more.close())
    this.calls.clear()
    eventLoop.noteNobody()
  }

  /** Drops what the stored profile has: the recorder stays as long as a connection or timer that the request made. */
  release(): void {
    this.#spans.spans = []
    this.#usedAtEnd = null
    this.secrets.clear()
    this.forget()
  }

  /** Drops all recorded values except secrets. Called if one of them cannot be read. */
  forget(): void {
    this.spans.length = 0
    this.lines.length = 0
    this.#failures.forget()
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
