import { performance } from 'node:perf_hooks'
import type { BlockedTime, DispatchPointName, Location, Span, SpanKind, SpanOutcome } from '../profile.ts'
import { eventLoop } from './blocked-loop.ts'

/** A function that the tracer has wrapped. */
export interface TracedFunction {
  kind: SpanKind
  name: string
  hook: string | null
  routeLevel: boolean
  dispatchPoint: DispatchPointName | null
  plugin: string | null
  location: Location | null
}

/** A hook or handler that has not ended. Times are milliseconds since the request arrived. */
interface Running {
  id: number
  span: Span
  /** When it sent the response, or when the next function began; null before. */
  handedOverAt: number | null
  /** When it called the `reply.send` that has not returned; null if there is none. */
  sendsSince: number | null
  /** When it began to wait for its response to be sent, which is not its own time; null if it does not wait. */
  waitsSince: number | null
  /** Milliseconds spent waiting and sending so far. */
  waited: number
  /** sync: it returned, and its end cannot be observed. async: it returned a promise. null: it has not returned. */
  form: 'sync' | 'async' | null
  /** Whether the profile waits for its end. */
  isAwaited: boolean
  /** Whether it has written the head of the response itself. What it awaits from then on is part of sending. */
  isWriting: boolean
  /** Called when it ends; null unless it has hijacked the reply. */
  whenHandedOver: (() => void) | null
}

/** A call of `reply.send` that has not returned. */
interface Sending {
  readonly sender: Running
  readonly since: number
}

/** Hooks that run while the function that sent the response is still running. */
const answerHooks = new Set(['preSerialization', 'onSend', 'onError', 'onResponse'])

/** Hooks that run concurrently with all others. */
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

/** Times the running hooks and handlers of one request. */
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

  /** The id of the running call that began last; null if there is none. */
  get newest(): number | null {
    return this.#running.at(-1)?.id ?? null
  }

  /** The id of the call that an error must come from: validation, or else the newest; null if none is running. */
  get culprit(): number | null {
    return this.#running.find(({ id }) => id === this.#validation)?.id ?? this.newest
  }

  /** Begins a hook or handler. @returns the span's id; null if the profile is full */
  open(traced: TracedFunction): number | null {
    if (this.#spans.refuses()) return null
    const { hook } = traced
    const start = this.#clock.now()
    if (hook === 'preSerialization') this.#answeredAt(start)
    const before = this.#running.at(-1)
    if (before !== undefined && !hooksApart.has(hook ?? '')) before.handedOverAt ??= start
    const span: Span = { parent: null, ...traced, start, duration: 0, outcome: 'unfinished', detail: null }
    const id = this.#spans.add(span)
    this.#running.push({
      id,
      span,
      handedOverAt: null,
      sendsSince: null,
      waitsSince: null,
      waited: 0,
      form: null,
      isAwaited: false,
      isWriting: false,
      whenHandedOver: null,
    })
    if (hook === 'onResponse') this.#work.begin()
    return id
  }

  /** Called when a function returns. One that has sent or hijacked the response, and returned no promise, has ended. */
  returned(id: number, form: 'sync' | 'async'): void {
    const place = this.#placeOf(id)
    const running = place === -1 ? undefined : this.#running[place]
    if (running === undefined) return
    running.form = form
    const hasAnswered = running.span.outcome === 'replied' || running.whenHandedOver !== null
    if (form === 'sync' && hasAnswered) this.close(id, 'replied')
  }

  /** Ends a call, unless it has ended before. */
  close(id: number, outcome: SpanOutcome): void {
    const running = this.#remove(this.#placeOf(id))
    if (running === undefined) return
    const { form, span, waited, isAwaited, isWriting, whenHandedOver } = running
    if (!isWriting || form !== 'async') span.duration = this.#clock.now() - span.start - waited
    // "continued" must not replace "replied".
    if (span.outcome === 'unfinished' || outcome === 'threw') span.outcome = outcome
    if (span.hook === 'onResponse' || isAwaited) this.#work.end()
    whenHandedOver?.()
  }

  /** Stops following a call whose request has timed out. */
  abandon(id: number): void {
    this.#remove(this.#placeOf(id))
  }

  /** Called before `reply.send`. The time until `sent` belongs to hooks and Fastify, not to the sender. */
  sends(): Sending | null {
    const sender = this.#running.at(-1)
    if (sender === undefined) return null
    const since = this.#clock.now()
    sender.sendsSince = since
    return { sender, since }
  }

  /** Called when `reply.send` has returned. */
  sent({ sender, since }: Sending): void {
    sender.sendsSince = null
    // The time of a sender that is waiting is subtracted when its wait ends.
    if (sender.waitsSince === null) sender.waited += this.#clock.now() - since
  }

  /** Called when a function awaits or returns the reply: it then waits for the response to be sent. */
  waits(): void {
    const now = this.#clock.now()
    for (const running of [...this.#running]) {
      if (answerHooks.has(running.span.hook ?? '')) continue
      running.waitsSince ??= now
      if (running.whenHandedOver === null) continue
      running.whenHandedOver()
      this.#answered(running, now)
    }
  }

  /** Called when that wait ends: the response was sent, or the client left. Drops calls that never replied. */
  goesOn(): void {
    const now = this.#clock.now()
    for (const running of [...this.#running]) {
      if (running.waitsSince === null) continue
      if (running.handedOverAt === null) this.#running.splice(this.#running.indexOf(running), 1)
      else running.waited += now - Math.max(running.waitsSince, running.handedOverAt)
      running.waitsSince = null
    }
  }

  /** Makes the profile wait for async functions that have sent the response and are still running. */
  awaitWork(): void {
    for (const running of this.#running) {
      if (running.form !== 'async' || running.span.outcome !== 'replied' || running.waitsSince !== null) continue
      running.isAwaited = true
      this.#work.begin()
    }
  }

  /** Begins the validation of the input against the route's schema. */
  validating(): void {
    this.#validation ??= this.open(validation)
  }

  /** Ends the validation, if it has begun. */
  validated(): void {
    if (this.#validation !== null) this.close(this.#validation, 'continued')
  }

  /** Called when the newest call sends a response. */
  answering(): void {
    this.#answeredAt(this.#clock.now())
  }

  /** Called when the application writes the head of the response itself, past Fastify. */
  writing(): void {
    const running = this.#running.at(-1)
    if (running !== undefined) running.isWriting = true
    this.answering()
  }

  /** Called when the newest call hijacks the reply. @param handedOver called when that call has ended */
  hijacking(handedOver: () => void): void {
    const running = this.#running.at(-1)
    if (running === undefined) return handedOver()
    running.whenHandedOver = handedOver
    if (running.form === 'sync') this.close(running.id, 'replied')
  }

  /** Stops following all calls. */
  clear(): void {
    this.#running.length = 0
    this.#validation = null
  }

  /** The index of a running call; -1 if it has ended. */
  #placeOf(id: number): number {
    let place = this.#running.length - 1
    while (place >= 0 && this.#running[place]?.id !== id) place--
    return place
  }

  #remove(place: number): Running | undefined {
    if (place === this.#running.length - 1) return this.#running.pop()
    return place === -1 ? undefined : this.#running.splice(place, 1)[0]
  }

  #answeredAt(now: number): void {
    const running = this.#running.at(-1)
    if (running !== undefined) this.#answered(running, now)
  }

  #answered(running: Running, now: number): void {
    if (answerHooks.has(running.span.hook ?? '') || running.span.outcome === 'replied') return
    const sent = running.sendsSince ?? now
    running.handedOverAt ??= sent
    running.span.outcome = 'replied'
    // This is its duration if its end is never observed.
    running.span.duration = running.handedOverAt - running.span.start
    if (running.form !== 'sync') return
    running.waited += now - sent
    this.close(running.id, 'replied')
  }
}

/** Holds the spans of one request within their bound. */
export class SpanList {
  spans: Span[] = []
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
    if (!this.isFull) return false
    this.dropped++
    return true
  }

  get isFull(): boolean {
    return this.spans.length >= this.#limit
  }

  /** @returns the span's id */
  add(span: Span): number {
    return this.spans.push(span) - 1
  }

  /**
   * Refuses further spans, and ends the unfinished ones: at this time, or if they began before the end of the request,
   * at that, since the time for which a profile waits is none of theirs.
   */
  close(now: number, ended: number | null): void {
    this.#isClosed = true
    for (const span of this.spans) {
      if (span.outcome !== 'unfinished') continue
      const end = ended !== null && span.start < ended ? ended : now
      span.duration = end - span.start
      if (span.wait === undefined) continue
      if (span.wait.duration === Infinity) span.wait.inVain = true
      span.wait.duration = Math.min(span.wait.duration, end - span.wait.start)
    }
  }
}

/** Counts the work that a profile has to wait for. */
export class Work {
  #underWay = 0
  #whenIdle: (() => void) | null = null

  get isUnderWay(): boolean {
    return this.#underWay > 0
  }

  begin(): void {
    this.#underWay++
  }

  end(): void {
    this.#underWay--
    if (this.#underWay > 0 || this.#whenIdle === null) return
    const callback = this.#whenIdle
    this.#whenIdle = null
    callback()
  }

  /** Calls back once, when all work has ended. Must be called only while some is under way. */
  whenIdle(callback: () => void): void {
    this.#whenIdle = callback
  }
}

/** A longer aside, in milliseconds, would be taken for code of the application that blocks the event loop. */
const longAside = 2

/** Measures the time of one request. */
export class RequestClock {
  /** Milliseconds for which the clock was stopped. */
  stoodStill = 0
  /** Milliseconds that the profiler spent while the request ran, with the clock stopped or not. */
  ownTime = 0
  readonly #token: string
  #start = performance.now()
  /** The asides: when they began, by `performance.now()`, and how long they took. */
  readonly #asides: Array<readonly [from: number, took: number]> = []

  constructor(token: string) {
    this.#token = token
  }

  /** Milliseconds since the request arrived, without those for which the clock was stopped. */
  now(): number {
    const now = performance.now()
    eventLoop.noteActivity(this.#token, now)
    return now - this.#start
  }

  /** When the event loop was blocked in a period of the request. */
  blockedWithin(start: number, end: number): BlockedTime[] {
    if (eventLoop.blockedUntil <= this.#start) return []
    // An aside has moved the start of the clock, for what came before it as well.
    const moved = this.#asides.reduce((sum, [, took]) => sum + took, 0)
    return eventLoop
      .periodsWithin(this.#start - moved + start, this.#start + end)
      .map(({ from, to, by }) => ({ start: this.#at(from), duration: to - from, by }))
      .filter(block => block.start < end && block.start + block.duration > start)
  }

  /** Makes a call with the clock stopped. */
  aside<Result>(call: () => Result): Result {
    const before = performance.now()
    eventLoop.noteActivity(this.#token, before)
    try {
      return call()
    } finally {
      const after = performance.now()
      const took = after - before
      this.ownTime += took
      this.stoodStill += took
      this.#start += took
      this.#asides.push([before, took])
      if (took >= longAside) eventLoop.skipUntil(after)
    }
  }

  #at(time: number): number {
    return this.#asides.reduce((at, [from, took]) => (from >= time ? at + took : at), time - this.#start)
  }
}
