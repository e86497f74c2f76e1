import type { Profile } from '../profile.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../summary.ts'
import type { OpenExchanges } from '../watch/exchange.ts'
import type { Neighbours, ProfileStore } from './profile-store.ts'

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

  async find(token: string): Promise<Profile | null> {
    if (token === 'latest') await this.settled()
    const running = this.#open.list().find(({ recorder }) => recorder.token === token)
    return (await running?.stored) ?? this.#store.find(token)
  }

  async search(criteria: SearchCriteria): Promise<SearchResult> {
    await this.#written()
    return this.#store.search(criteria)
  }

  async summaries(): Promise<ProfileSummary[]> {
    await this.#written()
    return this.#store.summaries()
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
