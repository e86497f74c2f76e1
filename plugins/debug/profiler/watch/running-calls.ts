import type { DispatchPointName, Location, Span, SpanKind, SpanOutcome } from '../base/profile.ts'
import type { RequestClock } from './request-clock.ts'
import type { SpanList } from './span-list.ts'
import type { Work } from './work.ts'

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

/** A hook or a handler that has not come to its end. Times are milliseconds since the request came in. */
interface Running {
  id: number
  span: Span
  /** When it answered, or when a function that it gave the request on to began. */
  gaveOn: number | null
  /** Since when it waits for its answer to be out, which is no work of its own. */
  waitsSince: number | null
  /** How long it has waited before, or sent. */
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

const validation: TracedFunction = {
  kind: 'validation',
  name: 'validation',
  hook: null,
  routeLevel: false,
  dispatchPoint: 'kernel.controller',
  plugin: null,
  location: null,
}

/** Times the hooks and handlers of one request that have not come to their end. */
export class RunningCalls {
  readonly #spans: SpanList
  readonly #clock: RequestClock
  readonly #work: Work
  readonly #running: Running[] = []
  #validation: number | null = null

  constructor(spans: SpanList, clock: RequestClock, work: Work) {
    this.#spans = spans
    this.#clock = clock
    this.#work = work
  }

  /** The id of the call that began last; null if none runs. */
  get newest(): number | null {
    return this.#running.at(-1)?.id ?? null
  }

  /** The id of the call that an error comes from, if it comes from one. */
  get culprit(): number | null {
    return this.#running.find(({ id }) => id === this.#validation)?.id ?? this.newest
  }

  /** A hook or a handler begins. @returns the span's id, null when there is no room for it */
  open(traced: TracedFunction): number | null {
    if (this.#spans.refuses()) return null
    const { kind, name, hook, routeLevel, dispatchPoint, plugin, location } = traced
    const start = this.#clock.now()
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
    const id = this.#spans.add(span)
    this.#running.push({ id, span, gaveOn: null, waitsSince: null, waited: 0, form: null, isAwaited: false })
    if (hook === 'onResponse') this.#work.begin()
    return id
  }

  /** The function has returned. What returned without a promise and has answered is over. */
  returned(id: number, form: 'sync' | 'async'): void {
    const running = this.#running.findLast(running => running.id === id)
    if (running === undefined) return
    running.form = form
    if (form === 'sync' && running.span.outcome === 'replied') this.close(id, 'replied')
  }

  /** The function came to its end. The first end counts. */
  close(id: number, outcome: SpanOutcome): void {
    const index = this.#running.findLastIndex(running => running.id === id)
    const [running] = index === -1 ? [] : this.#running.splice(index, 1)
    if (running === undefined) return
    const { span, waited, isAwaited } = running
    span.duration = this.#clock.now() - span.start - waited
    // A hook that answered and then returned has answered.
    if (span.outcome === 'unfinished' || outcome === 'threw') span.outcome = outcome
    if (span.hook === 'onResponse' || isAwaited) this.#work.end()
  }

  /** Follows a call no further: it runs on, and whatever it does comes too late. */
  abandon(id: number): void {
    const index = this.#running.findIndex(running => running.id === id)
    this.#running.splice(index, 1)
  }

  /** Somebody sends an answer: until that gives back, hooks and Fastify work, and not the sender. */
  sends(): Sending | null {
    const sender = this.#running.at(-1)
    return sender === undefined ? null : { sender, since: this.#clock.now() }
  }

  /** It was given back: the sender may work on. */
  sent({ sender, since }: Sending): void {
    // A sender that waits already does not work either, which is counted when the wait is over.
    if (sender.waitsSince === null) sender.waited += this.#clock.now() - since
  }

  /** Somebody waits for the answer to be out, as whoever returns the reply does. */
  waits(): void {
    const now = this.#clock.now()
    for (const running of this.#running) if (!answerHooks.has(running.span.hook ?? '')) running.waitsSince ??= now
  }

  /** The answer is out, or the client left: whoever waited goes on, and who waited in vain never comes to an end. */
  goesOn(): void {
    const now = this.#clock.now()
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
      this.#work.begin()
    }
  }

  /** Fastify begins to check the input against the route's schema. */
  validating(): void {
    this.#validation ??= this.open(validation)
  }

  /** Fastify has checked the input, if it was about it. */
  validated(): void {
    if (this.#validation !== null) this.close(this.#validation, 'continued')
  }

  /** An answer is being sent, by whatever runs now. */
  answering(): void {
    this.#answeredAt(this.#clock.now())
  }

  /** Follows no call any further. */
  clear(): void {
    this.#running.length = 0
    this.#validation = null
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
}
