import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { ProfileBounds } from '../bounds.ts'
import { isError, read } from '../foreign-value.ts'
import type { ConnectionWait, DispatchPointName, Exception, Location, Span, SpanKind, SpanOutcome } from '../profile.ts'
import { eventLoop } from './event-loop.ts'
import { MoreOperations } from './more-operations.ts'
import { RequestClock, RunningCalls, SpanList, Work } from './running-calls.ts'

/** Who told of an error: Fastify, code of the application that caught it, or a line of the log. The first says most. */
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
class Failures {
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

  /** The failure of an error; undefined if it was not remembered. */
  of(error: unknown): Failure | undefined {
    return this.list.find(failure => failure.error === error)
  }
}

// For performance: one buffer holds the bytes of 256 tokens, since a buffer for each is costly to collect as garbage.
const tokenBytes = 9
let random = Buffer.alloc(0)

/** A token of 72 random bits, URL-safe. */
export function newToken(): string {
  if (random.length < tokenBytes) random = randomBytes(tokenBytes * 256)
  const token = random.toString('base64url', 0, tokenBytes)
  random = random.subarray(tokenBytes)
  return token
}

/** The key under which this profiler passes on its token in `tracestate`. */
const key = 'fastify-profiler'

const validParent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/
const validToken = /^[\w-]{12}$/

/** The headers of an outgoing request. */
interface OutgoingHeaders {
  has(name: string): boolean
  add(name: string, value: string): void
}

/** The token of the profiled request that led to this one; null if its headers name none. */
function parentIn({ headers }: IncomingMessage): string | null {
  const { tracestate } = headers
  if (typeof tracestate !== 'string') return null
  for (const member of tracestate.split(',')) {
    const [name, token = ''] = member.trim().split('=')
    if (name === key) return validToken.test(token) ? token : null
  }
  return null
}

/** Adds the W3C's trace headers to a request to one of the application's own services, unless it has some. */
export function addTraceHeaders(recorder: Recorder, origin: string, headers: OutgoingHeaders): void {
  if (!recorder.propagatesTo(origin) || headers.has('traceparent')) return
  const digest = createHash('sha256').update(recorder.token).digest('hex')
  const { traceparent } = recorder.raw.headers
  const trace = validParent.exec(String(traceparent))?.[1]
  headers.add('traceparent', `00-${trace ?? digest.slice(0, 32)}-${digest.slice(32, 48)}-01`)
  if (!headers.has('tracestate')) headers.add('tracestate', `${key}=${recorder.token}`)
}

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
  /** Sets what it waits for, or has waited for; null for nothing worth telling. */
  waitsFor(wait: ConnectionWait | null): void
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
 * Records what happens in one request, within bounds, until the profile is stored. Panels keep their own records as
 * Attachments of the recorder.
 */
export class Recorder {
  /** 72 random bits, URL-safe. */
  readonly token: string
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
  /** Finds what records the request once this one has finished; null if nothing does. */
  successor: () => Recorder | null = () => null

  readonly #bounds: ProfileBounds
  readonly #propagateTo: readonly string[]
  readonly #whenEnded: Array<() => void> = []
  readonly #spans: SpanList
  readonly #more: MoreOperations
  readonly #failures: Failures
  /** How many operations of each kind have spans. */
  readonly #operations: Partial<Record<SpanKind, number>> = {}

  /** @param before the recorder of the same request until its profile was stored */
  constructor(raw: IncomingMessage, parent: string | null, { bounds, propagateTo }: RecorderParts, before?: Recorder) {
    this.token = before?.token ?? newToken()
    this.clock = before?.clock ?? new RequestClock(this.token)
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
    this.#more = new MoreOperations(this.clock)
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
    return this.finished ? this.successor() : this
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
    if (this.finished) return ignoredSpan
    const span = this.#describe(description, this.now())
    const id = this.#add(span)
    const endShared = id === null ? this.#more.begin(span) : null
    this.work.begin()
    let open = true
    return {
      id,
      end: (outcome = 'continued', description = {}) => {
        if (!open) return
        open = false
        if (endShared === null) {
          Object.assign(span, description)
          span.duration = this.now() - span.start
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

  /** Adds an error that was handled, but that belongs on the exception panel. */
  exception(error: unknown, from: FailureSource = 'caught'): void {
    this.#failures.add(error, null, from)
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
    this.spans.push(...this.#more.close())
    this.calls.clear()
    eventLoop.leave()
  }

  /** Drops what the stored profile has, since late work may keep this recorder for long. */
  release(): void {
    this.#spans.spans = []
    this.secrets.clear()
    this.forget()
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
