// Imported, because tests replace the global timers.
import { clearInterval, setInterval } from 'node:timers'
import type { Collector } from '../collect.ts'
import type { Boundary } from '../guard.ts'
import type { RequestSecrets } from '../mask/request-secrets.ts'
import type { Exception, Profile, Query } from '../profile.ts'
import { Recorder, type RecorderParts } from '../watch/recorder.ts'
import { statementShape } from '../statement-shape.ts'
import type { RequestIdentity } from '../watch/request-identity.ts'
import type { ProfileStore } from './profile-store.ts'
import { rewrite } from './profile-writer.ts'

/** Milliseconds after its response for which the work of a request is followed. */
const followedFor = 30_000

/** Requests whose late work waits to be stored. With more, that of the oldest is stored as it is. */
const requestsWaiting = 1000

/** The queries, calls, log lines and errors of one request. */
const workKept = 20

/** Milliseconds between two looks for work that is done. */
const interval = 100

interface LateWorkParts {
  boundary: Boundary
  collector: Collector
  recorded: RecorderParts
  store: ProfileStore
}

/** Adds to stored profiles what their requests do after the response. */
export class LateWork {
  /** Null once nothing is followed any more. */
  #parts: LateWorkParts | null
  /** Oldest first. */
  readonly #waiting = new Set<FollowedRequest>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: LateWorkParts) {
    this.#parts = parts
  }

  /** Follows a request whose recorder has finished. Until it does something, only its own recorder knows of that. */
  follow(before: Recorder): void {
    if (this.#parts !== null) before.successor = new FollowedRequest(this, before)
  }

  /** The profile of a request is stored, so that what came late can be added to it. */
  stored(before: Recorder, secrets: RequestSecrets): void {
    secrets.release()
    before.release()
    if (before.successor instanceof FollowedRequest) before.successor.secrets = secrets
  }

  /** Stores what has come, and follows nothing any more. */
  stop(): void {
    for (const followed of this.#waiting) this.#store(followed)
    this.#parts = null
  }

  /** @returns a recorder for what has come, which is stored once it is done; null if nothing is followed any more */
  record(followed: FollowedRequest): Recorder | null {
    if (this.#parts === null) return null
    const [oldest] = this.#waiting
    if (oldest !== undefined && this.#waiting.size >= requestsWaiting) this.#store(oldest)
    this.#waiting.add(followed)
    this.#timer ??= setInterval(() => this.#storeDone(), interval).unref()
    return new Recorder(followed.identity, this.#parts.recorded)
  }

  #storeDone(): void {
    for (const followed of this.#waiting) {
      const isDone = followed.secrets !== undefined && followed.recorder?.work.isUnderWay !== true
      if (isDone || followed.isOver) this.#store(followed)
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #store(followed: FollowedRequest): void {
    const { recorder, secrets } = followed
    this.#waiting.delete(followed)
    followed.recorder = null
    if (this.#parts === null || recorder === null || secrets == null) return
    const { boundary, collector, recorded, store } = this.#parts
    recorder.finish()
    const amount = amountOf(recorder)
    followed.left -= amount
    if (followed.isOver) followed.secrets = null
    if (amount === 0) return
    const add = (profile: Profile) => {
      for (const part of collector.collectLate(recorder, secrets, profile.duration)) addPart(profile, part)
      if (followed.left <= 0) profile.notes.push(`A profile holds ${workKept} pieces of what came after its response.`)
    }
    boundary.guard(() => rewrite(store, recorder.token, recorded.bounds.bytes, add), undefined)
    recorder.release()
  }
}

/**
 * A request whose recorder has finished. It stays as long as anything that it left behind, such as a connection.
 * For performance: it is no closure, which V8 would allocate in its old space, where all that it refers to stays until
 * a full garbage collection. That took twice the time for all others (`--trace-gc-nvp`: 132 MB promoted, not 32, in
 * 10,000 requests).
 */
class FollowedRequest {
  readonly identity: RequestIdentity
  /** Undefined until its profile is stored; null once nothing more is kept. */
  secrets: RequestSecrets | null | undefined
  /** How much more is kept. */
  left = workKept
  /** Records what comes until that is stored, too; null if nothing has come. */
  recorder: Recorder | null = null
  readonly #late: LateWork
  /** Milliseconds since its start. */
  readonly #until: number

  constructor(late: LateWork, before: Recorder) {
    this.identity = before
    this.#late = late
    this.#until = (before.ended ?? before.now()) + followedFor
  }

  /** What records the request now; null if nothing does, or if it has done too much. */
  get open(): Recorder | null {
    if (this.recorder !== null) return amountOf(this.recorder) < this.left ? this.recorder : null
    if (this.secrets === null) return null
    this.recorder = this.isOver ? null : this.#late.record(this)
    if (this.recorder === null) this.secrets = null
    else this.recorder.successor = this
    return this.recorder
  }

  get isOver(): boolean {
    return this.left <= 0 || this.identity.clock.now() > this.#until
  }
}

function amountOf({ failures, lines, spans }: Recorder): number {
  return failures.length + lines.length + spans.length
}

function addPart(profile: Profile, { database, exceptions = [], http, logs = [] }: Partial<Profile>): void {
  const before = profile.exceptions.length
  const parentOf = ({ parent }: Exception) => (parent === null ? null : parent + before)
  profile.exceptions.push(...exceptions.map(exception => ({ ...exception, parent: parentOf(exception) })))
  profile.logs.push(...logs)
  if (database != null) {
    const { failed, queries, rows, shapes, waited } = database
    const all = (profile.database ??= { ...database, count: 0, failed: 0, rows: 0, repetitions: [], queries: [] })
    all.count += addCalls(all.queries, queries)
    all.failed += failed
    all.rows += rows
    all.waited = Math.max(all.waited, waited)
    all.shapes = Math.max(all.shapes, shapes, new Set(all.queries.map(({ sql }) => statementShape(sql))).size)
  }
  if (http != null) {
    const all = (profile.http ??= { ...http, count: 0, failed: 0, calls: [] })
    all.count += addCalls(all.calls, http.calls)
    all.failed += http.failed
  }
}

/** Adds calls, and replaces those that were unfinished. @returns the number of new ones */
function addCalls<Call extends Pick<Query, 'duration' | 'start'>>(calls: Call[], added: readonly Call[]): number {
  const count = calls.length
  for (const call of added) {
    const place = calls.findIndex(({ duration, start }) => duration === null && start === call.start)
    calls.splice(place === -1 ? calls.length : place, 1, call)
  }
  return calls.length - count
}
