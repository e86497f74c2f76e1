import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { ProfileBounds } from './bounds.ts'
import type { DispatchPointName, Location, Span, SpanKind, SpanOutcome } from './profile.ts'

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

/** What the tracer knows of a function before it is ever called. */
export interface TracedFunction {
  kind: SpanKind
  name: string
  hook: string | null
  routeLevel: boolean
  dispatchPoint: DispatchPointName | null
  plugin: string | null
  location: Location | null
}

export interface Failure {
  error: unknown
  /** Id of the span it came from. */
  span: number | null
}

/** A line as the logger wrote it; parsed when the request is over. */
export interface RecordedLine {
  start: number
  line: string
}

const ignoredSpan: OpenSpan = { id: null, end () {} }

const validation: TracedFunction = {
  kind: 'validation', name: 'validation', hook: null, routeLevel: false, dispatchPoint: 'kernel.controller', plugin: null, location: null
}

const tokenBytes = 9
let random = Buffer.alloc(0)

/** Random bytes are cheap by the thousand and dear by the nine. */
function newToken (): string {
  if (random.length < tokenBytes) random = randomBytes(tokenBytes * 256)
  const token = random.toString('base64url', 0, tokenBytes)
  random = random.subarray(tokenBytes)
  return token
}

/**
 * What is recorded of one request while it runs: cheap to add to, bounded, and forgotten once it is stored.
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
  readonly spans: Span[] = []
  readonly lines: RecordedLine[] = []
  readonly failures: Failure[] = []
  readonly notes: string[] = []
  readonly secrets = new Set<string>()
  readonly marks = new Map<DispatchPointName, number>()
  readonly loopAtStart: EventLoopUtilization = performance.eventLoopUtilization()
  readonly heapAtStart = getHeapStatistics().used_heap_size
  /** The address the connection came from; asked at once, a closed socket no longer tells. */
  readonly remoteAddress: string | null
  droppedSpans = 0
  droppedLines = 0
  droppedFailures = 0
  /** Milliseconds the profiler spent while the request ran. */
  ownTime = 0
  /** Spans that panels or response hooks still have under way: the profile waits for these, for a while. */
  underWay = 0
  finished = false
  /** Milliseconds until the client had its answer, or left. */
  ended: number | null = null

  readonly #start = performance.now()
  readonly #bounds: ProfileBounds
  readonly #running: number[] = []
  #validation: number | null = null
  #whenIdle: (() => void) | null = null

  constructor (raw: IncomingMessage, parent: string | null, bounds: ProfileBounds) {
    this.raw = raw
    this.parent = parent
    const { method = 'GET', url = '/', socket: { remoteAddress = null } } = raw
    this.method = method
    this.url = url
    this.remoteAddress = remoteAddress
    this.#bounds = bounds
  }

  /** Milliseconds since the request came in. */
  now (): number {
    return performance.now() - this.#start
  }

  /** Adds a span of a panel's to the waterfall: a query, a cache read. The profile waits for its end. */
  span (description: SpanDescription): OpenSpan {
    if (this.#full()) return ignoredSpan
    const span = this.#add(description, this.now())
    this.underWay++
    let open = true
    return {
      id: this.spans.length - 1,
      end: (outcome = 'continued', description = {}) => {
        if (!open) return
        open = false
        Object.assign(span, description)
        span.duration = this.now() - span.start
        span.outcome = outcome
        this.#settle()
      }
    }
  }

  /** Adds a span that is over: for sources that tell only afterwards how long it took. */
  record (description: SpanDescription, duration: number): void {
    if (this.#full()) return
    const span = this.#add(description, Math.max(0, this.now() - duration))
    span.duration = duration
    span.outcome = 'continued'
  }

  /** An error that somebody handled, but that belongs on the exception panel. */
  exception (error: unknown): void {
    this.fail(error, null)
  }

  /** A sentence about what could not be recorded. */
  note (sentence: string): void {
    if (this.notes.length < 20 && !this.notes.includes(sentence)) this.notes.push(sentence)
  }

  /** This text is masked wherever it turns up in the profile: what only a panel knows to be a secret. */
  conceal (secret: string): void {
    if (this.secrets.size < 500) this.secrets.add(secret)
  }

  /** For the tracer: a hook or a handler begins. Answers the span's id, null when there is no room for it. */
  open (traced: TracedFunction): number | null {
    if (this.#full()) return null
    const { kind, name, hook, routeLevel, dispatchPoint, plugin, location } = traced
    // Spelled out, in the order of every other span: a spread costs four microseconds here.
    const id = this.spans.push({
      parent: null,
      kind,
      name,
      hook,
      routeLevel,
      dispatchPoint,
      plugin,
      location,
      start: this.now(),
      duration: 0,
      outcome: 'unfinished',
      detail: null
    }) - 1
    this.#running.push(id)
    if (hook === 'onResponse') this.underWay++
    return id
  }

  /** For the tracer: it came to its end. The first end counts. */
  close (id: number, outcome: SpanOutcome): void {
    const index = this.#running.indexOf(id)
    const span = this.spans[id]
    if (index === -1 || span === undefined) return
    this.#running.splice(index, 1)
    span.duration = this.now() - span.start
    // A hook that answered and then returned has answered.
    if (span.outcome === 'unfinished' || outcome === 'threw') span.outcome = outcome
    if (span.hook === 'onResponse') this.#settle()
  }

  /** For the tracer: Fastify begins to check the input against the route's schema. */
  validating (): void {
    this.#validation ??= this.open(validation)
  }

  /** For the tracer: it is done with that, if it was about it. */
  validated (outcome: SpanOutcome): void {
    if (this.#validation !== null) this.close(this.#validation, outcome)
  }

  /** For the tracer: an answer is being sent, by whatever runs now. */
  answering (): void {
    const span = this.spans[this.#running.at(-1) ?? -1]
    if (span === undefined || span.hook === 'onSend' || span.hook === 'onError') return
    span.outcome = 'replied'
    // It may never say that it is done; then this was its time.
    span.duration = this.now() - span.start
  }

  /** Remembers an error once, with the id of the span it came from. */
  fail (error: unknown, span: number | null): void {
    if (this.failures.some(failure => failure.error === error)) return
    if (this.failures.length < this.#bounds.exceptions) this.failures.push({ error, span })
    else this.droppedFailures++
  }

  mark (point: DispatchPointName): void {
    if (!this.marks.has(point)) this.marks.set(point, this.now())
  }

  line (line: string): void {
    if (this.finished) return
    if (this.lines.length < this.#bounds.logs) this.lines.push({ start: this.now(), line })
    else this.droppedLines++
  }

  /** Nothing is recorded any more; spans that never ended get the time they had. */
  finish (): void {
    this.finished = true
    const end = this.now()
    for (const span of this.spans) {
      if (span.outcome === 'unfinished') span.duration = end - span.start
    }
    this.#running.length = 0
  }

  /** Calls back once nothing of the request is under way any more; for when something is. */
  whenIdle (callback: () => void): void {
    this.#whenIdle = callback
  }

  #settle (): void {
    this.underWay--
    if (this.underWay > 0 || this.#whenIdle === null) return
    const callback = this.#whenIdle
    this.#whenIdle = null
    callback()
  }

  #full (): boolean {
    if (this.finished) return true
    if (this.spans.length < this.#bounds.spans) return false
    this.droppedSpans++
    return true
  }

  #add (description: SpanDescription, start: number): Span {
    const parent = this.#running.at(-1) ?? null
    const span: Span = {
      parent,
      kind: description.kind,
      name: description.name,
      hook: null,
      routeLevel: false,
      dispatchPoint: parent === null ? null : this.spans[parent]?.dispatchPoint ?? null,
      plugin: description.plugin ?? null,
      location: description.location ?? null,
      start,
      duration: 0,
      outcome: 'unfinished',
      detail: description.detail ?? null
    }
    this.spans.push(span)
    return span
  }
}
