import { performance } from 'node:perf_hooks'
// Imported, because tests replace the global timers.
import { clearInterval, setInterval } from 'node:timers'

/** A period in which code ran without a pause, so that no answer could be read. Times by `performance.now()`. */
interface BlockedPeriod {
  from: number
  to: number
  /** The token of the request that was the last to do anything before; null if the event loop has turned since. */
  by: string | null
}

/** Milliseconds between two turns of the timer. */
const interval = 5

/** A shorter period, in milliseconds, is none: garbage collection and a busy machine stop the loop as well. */
const shortest = 20

/** Milliseconds without a request after which the timer stops. */
const patience = 30_000

const periodsKept = 200

/** The event loop has turned if it was idle for more milliseconds than this, between two readings of the clock. */
const noIdleTime = 0.05

const { nodeTiming } = performance

/**
 * Notices when the event loop was blocked: a timer is overdue. Node's own count of idle time tells since when, and
 * whether the loop has turned since a request last did something, which is then to blame.
 * For performance: 0.04 µs for each event of a request and 200 turns of the timer a second buy that no query is blamed
 * for the code of others. Node's async_hooks would tell every culprit, but would call back around each promise.
 */
class EventLoop {
  readonly #periods: BlockedPeriod[] = []
  #timer: NodeJS.Timeout | null = null
  #turnedAt = 0
  #lookedAt = 0
  /** The idle time when it was last looked for a blocked period. */
  #idleThen = 0
  /** When a request last did something, and when one first did since the loop was idle. */
  #seenAt = 0
  #firstSeenAt = 0
  #idleWhenSeen = 0
  #by: string | null = null
  /** Whether no other request has done anything since the loop was idle. */
  #isAlone = true

  /** A request does something. @param now by `performance.now()` */
  noteActivity(token: string, now: number): void {
    if (this.#timer === null) this.#begin(now)
    else this.#lookForBlock(now)
    // In less time it cannot have been idle for longer. To ask takes most of what this costs.
    const idle = now - this.#seenAt > noIdleTime ? nodeTiming.idleTime : this.#idleWhenSeen
    const hasTurned = idle - this.#idleWhenSeen > noIdleTime
    this.#isAlone = hasTurned || (this.#isAlone && token === this.#by)
    if (hasTurned) this.#firstSeenAt = now
    this.#seenAt = now
    this.#idleWhenSeen = idle
    this.#by = token
  }

  /** What runs from now on is no request's. */
  noteNobody(): void {
    this.#by = null
  }

  /** Forgets what has run until now, which was the profiler's own work. */
  skipUntil(now: number): void {
    this.#turnedAt = this.#lookedAt = this.#seenAt = this.#firstSeenAt = now
    this.#idleThen = this.#idleWhenSeen = nodeTiming.idleTime
  }

  /** The end of the last blocked period. */
  get blockedUntil(): number {
    return this.#periods.at(-1)?.to ?? 0
  }

  /** The blocked periods that overlap another one, in order. */
  periodsWithin(from: number, to: number): BlockedPeriod[] {
    return this.#periods.filter(period => period.to > from && period.from < to)
  }

  #begin(now: number): void {
    this.skipUntil(now)
    this.#timer = setInterval(() => this.#turn(), interval).unref()
  }

  #turn(): void {
    const now = performance.now()
    this.#lookForBlock(now)
    this.#turnedAt = this.#lookedAt = now
    this.#idleThen = nodeTiming.idleTime
    if (this.#timer === null || now - this.#seenAt < patience) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #lookForBlock(now: number): void {
    if (now - this.#turnedAt < interval + shortest) return
    const idle = nodeTiming.idleTime
    const idleSinceSeen = idle - this.#idleWhenSeen
    const hasTurned = idleSinceSeen > noIdleTime
    const earliest = hasTurned ? this.#seenAt + idleSinceSeen : this.#firstSeenAt
    const from = Math.max(earliest, this.#lookedAt + idle - this.#idleThen)
    const last = this.#periods.at(-1)
    if (now - from >= shortest) {
      // Of several requests, it is the one after which nobody did anything for most of the time.
      const isKnown = !hasTurned && (this.#isAlone || now - this.#seenAt > (now - from) / 2)
      this.#periods.push({ from, to: now, by: isKnown ? this.#by : null })
      if (this.#periods.length > periodsKept) this.#periods.shift()
    } else if (last?.to === this.#lookedAt) last.to = now
    this.#lookedAt = now
    this.#idleThen = idle
  }
}

/** The event loop of this thread. */
export const eventLoop = new EventLoop()
