import { performance } from 'node:perf_hooks'
// Imported, because tests replace the global timers.
import { setImmediate } from 'node:timers'
import type { Collector } from '../collect.ts'
import type { Boundary } from '../guard.ts'
import type { Profile, Route } from '../profile.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../summary.ts'
import type { Exchange, OpenExchanges, Patience } from '../watch/exchange.ts'
import type { Overview } from './overview.ts'
import type { Neighbours, ProfileStore } from './profile-store.ts'
import { type ProfileText, serialise, summarise } from './profile-text.ts'

/** Finds profiles, including those that are about to be stored. */
export class ProfileArchive {
  readonly #open: OpenExchanges
  readonly #store: ProfileStore

  constructor(open: OpenExchanges, store: ProfileStore) {
    this.#open = open
    this.#store = store
  }

  /** Resolves when the profiles of all answered requests are stored. */
  async settled(): Promise<void> {
    const stored = this.#open.list().map(({ stored }) => stored)
    await Promise.all(stored.filter(promise => promise !== null))
    this.#store.flush()
  }

  /** Finds a profile by its token, or the newest by "latest". */
  async find(token: string): Promise<Profile | null> {
    if (token === 'latest') await this.settled()
    const running = this.#open.list().find(({ recorder }) => recorder.token === token)
    return (await running?.stored) ?? this.#store.find(token)
  }

  /** Searches the profiles, newest first. */
  async search(criteria: SearchCriteria): Promise<SearchResult> {
    await this.#written()
    return this.#store.search(criteria)
  }

  /** Summarises the requests since a time, by route, statement and exception. */
  overview(since: number): Overview {
    return this.#store.overview(since)
  }

  /** The routes of the application that was ready last; null if they are not stored. */
  routes(): readonly Route[] | null {
    return this.#store.findNewestConfiguration()?.routes ?? null
  }

  /** The id of the server that listened last; null if it has closed. */
  serverId(): string | null {
    return this.#store.findAddress()?.id ?? null
  }

  /** Finds the tokens of the profiles before and after another; null at either end. */
  async neighbours(token: string): Promise<Neighbours> {
    await this.#written()
    return this.#store.neighbours(token)
  }

  /** Whether a profile is stored, or its request still runs. */
  async knows(token: string): Promise<boolean> {
    return this.isRunning(token) || (await this.find(token))?.token === token
  }

  /** Resolves when the profiles that wait for nothing else are stored. */
  async #written(): Promise<void> {
    const due = this.#open.list().map(({ due }) => due)
    await Promise.all(due.filter(promise => promise !== null))
  }

  /** Whether a request has not been answered yet. */
  isRunning(token: string): boolean {
    return this.#open.list().some(({ recorder }) => recorder.token === token && recorder.ended === null)
  }
}

interface ProfileWriterParts {
  open: OpenExchanges
  collector: Collector
  store: ProfileStore
  patience: Patience
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

  /** Stores the profiles of all open exchanges now. */
  writeOpen(): void {
    const { boundary, open, store } = this.#parts
    for (const exchange of open.list()) boundary.guard(() => this.#write(exchange), null)
    boundary.guard(() => store.flush(), undefined)
  }

  /** @returns null if it is stored already */
  #write(exchange: Exchange): Profile | null {
    const { bytes, collector, open, store, written } = this.#parts
    if (!open.remove(exchange)) return null
    exchange.recorder.finish()
    const { profile, text } = collector.collect(exchange, (profile, samples) => {
      profile.cost.store = Math.round((this.#textCost + store.writingCost) * 1000)
      const before = performance.now()
      const [rest, spans] = serialise(profile, bytes)
      const text: ProfileText = samples === null ? [rest, spans] : [rest, spans, samples]
      this.#textCost = performance.now() - before
      return { profile, text }
    })
    const summary = summarise(profile)
    store.write(summary, text)
    written(summary, profile)
    return profile
  }
}
