import { performance } from 'node:perf_hooks'
// Imported, because tests replace the global timers.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { Collector } from '../collect.ts'
import { features } from '../feature.ts'
import type { Boundary } from '../guard.ts'
import type { Profile } from '../profile.ts'
import type { ProfileSummary } from '../summary.ts'
import { eventLoop } from '../watch/blocked-loop.ts'
import { recorderScope } from '../watch/current-recorder.ts'
import type { Exchange, OpenExchanges, Patience } from '../watch/exchange.ts'
import type { RequestSecrets } from '../mask/request-secrets.ts'
import type { Recorder } from '../watch/recorder.ts'
import type { ProfileStore } from './profile-store.ts'
import { serialise } from './profile-text.ts'

interface ProfileWriterParts {
  open: OpenExchanges
  collector: Collector
  store: ProfileStore
  patience: Patience
  late: {
    follow: (recorder: Recorder) => void
    stored: (recorder: Recorder, secrets: RequestSecrets) => void
    stop: () => void
  }
  boundary: Boundary
  /** The limit of a stored profile. */
  bytes: number
  /** Called with each profile and its summary. */
  written: (summary: ProfileSummary, profile: Profile) => void
}

/**
 * Milliseconds for which exchanges that have ended are gathered while others have no profile yet.
 * For performance: profiles that are made one after another take a tenth less of all that profiling costs, since the
 * code and what it reads are in the processor's caches (`npm run bench:cost`).
 */
const gathering = 10

/**
 * For performance: more block the event loop for longer, and cost a tenth more of what profiling adds, since minor
 * garbage collections copy what waits (`npm run bench:cost`).
 */
const gatheredMost = 16

/** Stores the profile of every exchange that has ended. */
export class ProfileWriter {
  readonly #parts: ProfileWriterParts
  readonly #gathered: Array<() => void> = []
  #timer: NodeJS.Timeout | undefined
  /** Milliseconds that serialising the last profile took. A profile's own figure is known too late to be in it. */
  #textCost = 0

  constructor(parts: ProfileWriterParts) {
    this.#parts = parts
  }

  /** Stores the profile of an exchange when all its work is done, or when waiting for it has timed out. */
  writeWhenDone(exchange: Exchange): void {
    const { boundary, patience } = this.#parts
    const { recorder } = exchange
    exchange.stored = new Promise(resolve => {
      const write = () => {
        resolve(boundary.guard(() => this.#write(exchange), null))
      }
      exchange.due = new Promise(resolve => {
        // By then the first onResponse hooks have begun.
        setImmediate(() => {
          if (exchange.finished) recorder.calls.awaitWork()
          if (recorder.work.isUnderWay) {
            patience.wait(recorder.work, write)
            return resolve()
          }
          boundary.guard(() => this.#stopRecording(recorder), undefined)
          this.#gather(() => {
            write()
            resolve()
          })
        })
      })
    })
  }

  /** Stores the profiles of all open exchanges now, and what came late. Nothing is followed any more. */
  writeOpen(): void {
    const { boundary, late, open, store } = this.#parts
    for (const exchange of open.list()) boundary.guard(() => this.#write(exchange), null)
    late.stop()
    boundary.guard(() => store.flush(), undefined)
  }

  /**
   * Calls back at once, or later with others. Code of the application is asked at once, in the scope of its request: to
   * keep that would take longer than gathering saves.
   */
  #gather(make: () => void): void {
    const { collector, open } = this.#parts
    if (collector.asksApplication || open.count <= 1) return make()
    this.#gathered.push(make)
    if (this.#gathered.length === gatheredMost) return recorderScope.exit(() => this.#makeGathered())
    if (this.#gathered.length > 1) return
    recorderScope.exit(() => {
      this.#timer = setTimeout(() => this.#makeGathered(), gathering)
    })
  }

  #makeGathered(): void {
    clearTimeout(this.#timer)
    for (const each of this.#gathered.splice(0)) each()
  }

  /** What the request does from now on is late, and is added to its profile once that is stored. */
  #stopRecording(recorder: Recorder): void {
    if (recorder.finished) return
    recorder.finish()
    this.#parts.late.follow(recorder)
  }

  /** @returns null if it is stored already */
  #write(exchange: Exchange): Profile | null {
    const { late, open, store, written } = this.#parts
    const { recorder } = exchange
    if (!open.remove(exchange)) return null
    this.#stopRecording(recorder)
    const { profile, secrets } = asNobody(recorder, () => {
      const made = this.#make(exchange)
      store.write(made.summary, made.text)
      written(made.summary, made.profile)
      return made
    })
    late.stored(recorder, secrets)
    return profile
  }

  #make(exchange: Exchange) {
    const { boundary, bytes, collector, store } = this.#parts
    return collector.collect(exchange, ({ profile, samples, secrets }) => {
      profile.cost.store = Math.round((this.#textCost + store.writingCost) * 1000)
      const before = performance.now()
      const text = serialise(profile, bytes, samples)
      this.#textCost = performance.now() - before
      const summary = summarise(profile, call => boundary.guard(call, undefined))
      return { profile, secrets, summary, text }
    })
  }
}

/** Makes a call of the profiler's own. What it does is no late work of the request, and its time is no request's. */
function asNobody<Result>(recorder: Recorder, call: () => Result): Result {
  const { successor } = recorder
  recorder.successor = null
  eventLoop.noteNobody()
  try {
    return call()
  } finally {
    recorder.successor = successor
  }
}

/** Stores a profile again, with a change. Does nothing if there is none. @param bytes the limit of its size */
export function rewrite(store: ProfileStore, token: string, bytes: number, change: (profile: Profile) => void): void {
  const profile = store.read(token)
  if (profile === null) return
  change(profile)
  store.write(summarise(profile), serialise(profile, bytes, store.findSamples(token)))
}

/**
 * Makes the summary of a profile, for lists and searches. StoredSummary reads what comes before its duration as text.
 * @param guard makes a call that may fail
 */
export function summarise(profile: Profile, guard: (call: () => void) => void = call => call()): ProfileSummary {
  const { token, parent, time, duration, status, outcome, method, url, host, ip, isReplay, labels } = profile
  const summary: ProfileSummary = {
    token,
    parent,
    ...(isReplay && { isReplay }),
    time,
    duration,
    status,
    outcome,
    method,
    url: url.slice(0, 500),
    host,
    ip,
    route: profile.routing.matched?.url ?? null,
    exception: null,
    logErrors: 0,
    queries: { count: 0, duration: 0 },
    statements: [],
    repeated: 0,
    times: [],
    size: profile.response.bodySize,
    labels,
  }
  for (const { summarise } of features) guard(() => Object.assign(summary, summarise?.(profile)))
  return summary
}
