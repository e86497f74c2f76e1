import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
// Imported, because tests replace the global timers.
import { clearInterval, setInterval } from 'node:timers'
import type { Collector } from '../collect.ts'
import type { Boundary } from '../guard.ts'
import type { RequestSecrets } from '../mask/request-secrets.ts'
import type { Profile } from '../profile.ts'
import { Recorder, type RecorderParts } from '../watch/recorder.ts'
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

/** A request whose profile is stored. */
interface Followed {
  /** Milliseconds since its start. */
  readonly until: number
  readonly secrets: RequestSecrets
  /** How much more is kept. */
  left: number
  /** Records what comes until that is stored, too; null if nothing has come. */
  recorder: Recorder | null
}

interface LateWorkParts {
  boundary: Boundary
  collector: Collector
  recorded: RecorderParts
  store: ProfileStore
}

/** Stands for all requests, which would keep their bodies and sockets in memory. */
const nobody = new IncomingMessage(new Socket())

/** Adds to stored profiles what their requests do after the response. */
export class LateWork {
  readonly #parts: LateWorkParts
  /** Oldest first. */
  readonly #waiting = new Set<Followed>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(parts: LateWorkParts) {
    this.#parts = parts
  }

  /** Follows a request whose profile was stored. Until it does something, only its own recorder knows of that. */
  follow(before: Recorder, secrets: RequestSecrets): void {
    const until = (before.ended ?? before.now()) + followedFor
    const followed: Followed = { until, secrets, left: workKept, recorder: null }
    secrets.release()
    before.release()
    before.successor = () => this.#recorderOf(followed, before)
  }

  /** Stores what has come, and follows nothing any more. */
  stop(): void {
    this.#isStopped = true
    for (const followed of this.#waiting) this.#store(followed)
  }

  #recorderOf(followed: Followed, before: Recorder): Recorder | null {
    const { left, recorder, until } = followed
    if (recorder !== null) return amountOf(recorder) < left ? recorder : null
    if (this.#isStopped || left <= 0 || before.now() > until) return null
    const [oldest] = this.#waiting
    if (oldest !== undefined && this.#waiting.size >= requestsWaiting) this.#store(oldest)
    followed.recorder = new Recorder(nobody, null, this.#parts.recorded, before)
    followed.recorder.successor = before.successor
    this.#waiting.add(followed)
    this.#timer ??= setInterval(() => this.#storeDone(), interval).unref()
    return followed.recorder
  }

  #storeDone(): void {
    for (const followed of this.#waiting) {
      const { recorder, until } = followed
      if (recorder?.work.isUnderWay !== true || recorder.now() > until) this.#store(followed)
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #store(followed: Followed): void {
    const { boundary, collector, recorded, store } = this.#parts
    const { recorder, secrets } = followed
    this.#waiting.delete(followed)
    followed.recorder = null
    if (recorder === null) return
    recorder.finish()
    followed.left -= amountOf(recorder)
    if (amountOf(recorder) === 0) return
    const add = (profile: Profile) => {
      collector.addLate(profile, recorder, secrets)
      if (followed.left <= 0) profile.notes.push(`A profile holds ${workKept} pieces of what came after it was stored.`)
    }
    boundary.guard(() => rewrite(store, recorder.token, recorded.bounds.bytes, add), undefined)
  }
}

/** How much has been recorded. */
function amountOf({ failures, lines, spans }: Recorder): number {
  return failures.length + lines.length + spans.length
}
