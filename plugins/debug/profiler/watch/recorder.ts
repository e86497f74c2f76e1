import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { ProfileBounds } from '../base/bounds.ts'
import { isError, read } from '../base/foreign-value.ts'
import type { DispatchPointName, Location, Span, SpanKind, SpanOutcome } from '../base/profile.ts'

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
  /** Ids of the spans that threw it, the first one first: who catches an error may throw it again. */
  spans: number[]
  /** Ids of the error handlers that it was given to. */
  handlers: number[]
  /** The dispatch point that Fastify itself failed in; null where a span did, or where the application handled it. */
  phase: DispatchPointName | null
}

/** A line as the logger wrote it; parsed when the request is over. */
export interface RecordedLine {
  start: number
  line: string
}

function isTimeout(error: unknown): boolean {
  return isError(error) && read(error, 'code') === 'FST_ERR_HANDLER_TIMEOUT'
}

/** A hook or a handler that has not come to its end. Times are milliseconds since the request came in. */
interface Running {
  id: number
  span: Span
  /** When it answered, or gave the request on to a function that began while it ran. */
  gaveOn: number | null
  /** Since when it waits for its answer to be out, which is no work of its own, and how long it did so, or sent, before. */
  waitsSince: number | null
  waited: number
  /** sync: it has returned, and whatever it still does nobody can see. async: it says when it is done. */
  form: 'sync' | 'async' | null
  /** Whether the profile waits for its end. */
  isAwaited: boolean
}

/** An answer on its way through the hooks, and who sent it. */
export interface Sending {
  readonly sender: Running
  readonly since: number
}

/** Hooks that an answer passes: they begin while whoever answered still runs. */
const answerHooks = new Set(['preSerialization', 'onSend', 'onError', 'onResponse'])

/** Hooks that run beside all others. */
const hooksApart = new Set(['onTimeout', 'onRequestAbort'])

const ignoredSpan: OpenSpan = { id: null, end() {} }

const validation: TracedFunction = {
  kind: 'validation',
  name: 'validation',
  hook: null,
  routeLevel: false,
  dispatchPoint: 'kernel.controller',
  plugin: null,
  location: null,
}

/** More would not be read. */
export const notesKept = 20

/** More than these, and no text of the profile is shown: a secret might be in it. */
const secretsKept = 1000

const tokenBytes = 9
let random = Buffer.alloc(0)

/** Random bytes are cheap by the thousand and dear by the nine. */
function newToken(): string {
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
  droppedNotes = 0
  droppedSecrets = 0
  /** Milliseconds that its clock stood still. */
  stoodStill = 0
  /** Milliseconds the profiler spent while the request ran, also those that its clock stood still. */
  ownTime = 0
  /** Spans that panels or response hooks still have under way: the profile waits for these, for a while. */
  underWay = 0
  finished = false
  /** Milliseconds until the client had its answer, or left. */
  ended: number | null = null

  #start = performance.now()
  readonly #bounds: ProfileBounds
  readonly #running: Running[] = []
  #validation: number | null = null
  #lastDropped: unknown
  #whenIdle: (() => void) | null = null

  constructor(raw: IncomingMessage, parent: string | null, bounds: ProfileBounds) {
    this.raw = raw
    this.parent = parent
    const { method = 'GET', url = '/', socket } = raw
    this.method = method
    this.url = url
    // Adapters make requests that have no socket.
    this.remoteAddress = socket?.remoteAddress ?? null
    this.#bounds = bounds
  }

  /** Milliseconds since the request came in. */
  now(): number {
    return performance.now() - this.#start
  }

  /** Does something of the profiler's amid the request: the clock stands still, none of that time is the request's. */
  aside<Result>(call: () => Result): Result {
    const before = performance.now()
    try {
      return call()
    } finally {
      const took = performance.now() - before
      this.ownTime += took
      this.stoodStill += took
      this.#start += took
    }
  }

  /** Adds a span of a panel's to the waterfall: a query, a cache read. The profile waits for its end. */
  span(description: SpanDescription): OpenSpan {
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
      },
    }
  }

  /** Adds a span that is over: for sources that tell only afterwards how long it took. */
  record(description: SpanDescription, duration: number): void {
    if (this.#full()) return
    const span = this.#add(description, Math.max(0, this.now() - duration))
    span.duration = duration
    span.outcome = 'continued'
  }

  /** An error that somebody handled, but that belongs on the exception panel. */
  exception(error: unknown): void {
    this.fail(error, null)
  }

  /** For the tracer: an error is on its way to the error handlers. What runs now has failed; if nothing does, Fastify has. */
  failing(error: unknown): void {
    if (this.#failureOf(error)?.spans.length) return
    const running = this.#running.find(({ id }) => id === this.#validation) ?? this.#running.at(-1)
    if (running === undefined) {
      this.fail(error, null)
      const failure = this.#failureOf(error)
      if (failure === undefined) return
      failure.phase ??= this.#phase()
      // What is interrupted was reached, though no hook of it may have run.
      return this.mark(failure.phase)
    }
    this.fail(error, running.id)
    // It runs on, and whatever it does comes too late.
    if (isTimeout(error)) this.#running.splice(this.#running.indexOf(running), 1)
    else this.close(running.id, 'threw')
  }

  /** For the tracer: this error handler was given it. */
  handling(error: unknown, span: number): void {
    this.#failureOf(error)?.handlers.push(span)
  }

  /** A sentence about what could not be recorded. */
  note(sentence: string): void {
    if (this.notes.includes(sentence)) return
    if (this.notes.length < notesKept) this.notes.push(sentence)
    else this.droppedNotes++
  }

  /** This text is masked wherever it turns up in the profile: what only a panel knows to be a secret. */
  conceal(secret: string): void {
    if (this.secrets.size < secretsKept || this.secrets.has(secret)) this.secrets.add(secret)
    else this.droppedSecrets++
  }

  /** For the tracer: a hook or a handler begins. Answers the span's id, null when there is no room for it. */
  open(traced: TracedFunction): number | null {
    if (this.#full()) return null
    const { kind, name, hook, routeLevel, dispatchPoint, plugin, location } = traced
    const start = this.now()
    if (hook === 'preSerialization') this.#answeredAt(start)
    const before = this.#running.at(-1)
    if (before !== undefined && !hooksApart.has(hook ?? '')) before.gaveOn ??= start
    // Spelled out, in the order of every other span: a spread costs four microseconds here.
    const span: Span = {
      parent: null,
      kind,
      name,
      hook,
      routeLevel,
      dispatchPoint,
      plugin,
      location,
      start,
      duration: 0,
      outcome: 'unfinished',
      detail: null,
    }
    const id = this.spans.push(span) - 1
    this.#running.push({ id, span, gaveOn: null, waitsSince: null, waited: 0, form: null, isAwaited: false })
    if (hook === 'onResponse') this.underWay++
    return id
  }

  /** For the tracer: the function has returned. What returned without a promise and has answered is over. */
  returned(id: number, form: 'sync' | 'async'): void {
    const running = this.#running.findLast(running => running.id === id)
    if (running === undefined) return
    running.form = form
    if (form === 'sync' && running.span.outcome === 'replied') this.close(id, 'replied')
  }

  /** For the tracer: it came to its end. The first end counts. */
  close(id: number, outcome: SpanOutcome): void {
    const index = this.#running.findLastIndex(running => running.id === id)
    const [running] = index === -1 ? [] : this.#running.splice(index, 1)
    if (running === undefined) return
    const { span, waited, isAwaited } = running
    span.duration = this.now() - span.start - waited
    // A hook that answered and then returned has answered.
    if (span.outcome === 'unfinished' || outcome === 'threw') span.outcome = outcome
    if (span.hook === 'onResponse' || isAwaited) this.#settle()
  }

  /** Somebody sends an answer: until that gives back, hooks and Fastify work, and not the sender. */
  sends(): Sending | null {
    const sender = this.#running.at(-1)
    return sender === undefined ? null : { sender, since: this.now() }
  }

  /** It was given back: the sender may work on. */
  sent({ sender, since }: Sending): void {
    // Who waits already does not work either, which is counted when the wait is over.
    if (sender.waitsSince === null) sender.waited += this.now() - since
  }

  /** Somebody waits for the answer to be out, as whoever returns the reply does. */
  waits(): void {
    const now = this.now()
    for (const running of this.#running) if (!answerHooks.has(running.span.hook ?? '')) running.waitsSince ??= now
  }

  /** The answer is out, or the client left: whoever waited goes on, and who waited in vain never comes to an end. */
  goesOn(): void {
    const now = this.now()
    for (const running of [...this.#running]) {
      if (running.waitsSince === null) continue
      if (running.gaveOn === null) this.#running.splice(this.#running.indexOf(running), 1)
      else running.waited += now - Math.max(running.waitsSince, running.gaveOn)
      running.waitsSince = null
    }
  }

  /** Makes the profile wait for those who have answered and work on. */
  awaitWork(): void {
    for (const running of this.#running) {
      if (running.form !== 'async' || running.span.outcome !== 'replied' || running.waitsSince !== null) continue
      running.isAwaited = true
      this.underWay++
    }
  }

  /** For the tracer: Fastify begins to check the input against the route's schema. */
  validating(): void {
    this.#validation ??= this.open(validation)
  }

  /** For the tracer: it is done with that, if it was about it. */
  validated(outcome: SpanOutcome): void {
    if (this.#validation !== null) this.close(this.#validation, outcome)
  }

  /** For the tracer: an answer is being sent, by whatever runs now. */
  answering(): void {
    this.#answeredAt(this.now())
  }

  /** Remembers an error once, with the ids of the spans it came from. */
  fail(error: unknown, span: number | null): void {
    const spans = span === null ? [] : [span]
    const known = this.#failureOf(error)
    if (known !== undefined) known.spans.push(...spans)
    else if (this.failures.length < this.#bounds.exceptions) {
      this.failures.push({ error, spans, handlers: [], phase: null })
    } else if (error !== this.#lastDropped) {
      // It is told of by each hook and handler that it passes.
      this.#lastDropped = error
      this.droppedFailures++
    }
  }

  mark(point: DispatchPointName): void {
    if (!this.marks.has(point)) this.marks.set(point, this.now())
  }

  line(line: string): void {
    if (this.finished) return
    if (this.lines.length < this.#bounds.logs) this.lines.push({ start: this.now(), line })
    else this.droppedLines++
  }

  /** Nothing is recorded any more; spans that never ended get the time they had. */
  finish(): void {
    this.finished = true
    const end = this.now()
    for (const span of this.spans) {
      if (span.outcome === 'unfinished') span.duration = end - span.start
    }
    this.#running.length = 0
  }

  /** Lets go of all that others made, but for secrets: something of it cannot be read. */
  forget(): void {
    this.spans.length = 0
    this.lines.length = 0
    this.failures.length = 0
    this.#running.length = 0
    this.#validation = null
  }

  /** Calls back once nothing of the request is under way any more; for when something is. */
  whenIdle(callback: () => void): void {
    this.#whenIdle = callback
  }

  #failureOf(error: unknown): Failure | undefined {
    return this.failures.find(failure => failure.error === error)
  }

  /** Where the request is while nothing of the application's runs: Fastify reads the input, or writes the answer. */
  #phase(): DispatchPointName {
    if (!this.marks.has('kernel.request')) return 'kernel.request'
    return this.marks.has('kernel.controller_arguments') || this.marks.has('kernel.response')
      ? 'kernel.response'
      : 'kernel.controller'
  }

  #answeredAt(now: number): void {
    const running = this.#running.at(-1)
    if (running === undefined || answerHooks.has(running.span.hook ?? '') || running.span.outcome === 'replied') return
    running.gaveOn ??= now
    running.span.outcome = 'replied'
    // It may never say that it is done; then this was its time.
    running.span.duration = running.gaveOn - running.span.start
    if (running.form === 'sync') this.close(running.id, 'replied')
  }

  #settle(): void {
    this.underWay--
    if (this.underWay > 0 || this.#whenIdle === null) return
    const callback = this.#whenIdle
    this.#whenIdle = null
    callback()
  }

  #full(): boolean {
    if (this.finished) return true
    if (this.spans.length < this.#bounds.spans) return false
    this.droppedSpans++
    return true
  }

  #add(description: SpanDescription, start: number): Span {
    const parent = this.#running.at(-1)?.id ?? null
    const span: Span = {
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
    this.spans.push(span)
    return span
  }
}
