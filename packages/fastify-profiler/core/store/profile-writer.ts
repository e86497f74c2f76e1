import { performance } from 'node:perf_hooks'
// Imported, because tests replace the global timers.
import { setImmediate } from 'node:timers'
import type { Collector } from '../collect.ts'
import type { Boundary } from '../guard.ts'
import type { Profile } from '../profile.ts'
import type { ProfileSummary } from '../summary.ts'
import type { Exchange, OpenExchanges, Patience } from '../watch/exchange.ts'
import type { LateWork } from './late-work.ts'
import type { ProfileStore } from './profile-store.ts'
import { type ProfileText, serialise, summarise } from './profile-text.ts'

interface ProfileWriterParts {
  open: OpenExchanges
  collector: Collector
  store: ProfileStore
  patience: Patience
  late: LateWork
  boundary: Boundary
  /** The limit of a stored profile. */
  bytes: number
  /** Called with each profile and its summary. */
  written: (summary: ProfileSummary, profile: Profile) => void
}

/** Stores the profile of every exchange that has ended. */
export class ProfileWriter {
  readonly #parts: ProfileWriterParts
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
          if (!recorder.work.isUnderWay) write()
          else patience.wait(recorder.work, write)
          resolve()
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

  /** @returns null if it is stored already */
  #write(exchange: Exchange): Profile | null {
    const { bytes, collector, late, open, store, written } = this.#parts
    if (!open.remove(exchange)) return null
    exchange.recorder.finish()
    const { profile, secrets, text } = collector.collect(exchange, ({ profile, samples, secrets }) => {
      profile.cost.store = Math.round((this.#textCost + store.writingCost) * 1000)
      const before = performance.now()
      const [rest, spans] = serialise(profile, bytes)
      const text: ProfileText = samples === null ? [rest, spans] : [rest, spans, samples]
      this.#textCost = performance.now() - before
      return { profile, secrets, text }
    })
    const summary = summarise(profile)
    store.write(summary, text)
    late.follow(exchange.recorder, secrets)
    written(summary, profile)
    return profile
  }
}
