import type { Profile, SearchCriteria, SearchResult } from '../base/profile.ts'
import type { OpenExchanges } from '../watch/open-exchanges.ts'
import type { ProfileStore } from './profile-store.ts'

/** Finds profiles, and waits for those that are about to be stored. */
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
    await (token === 'latest'
      ? this.settled()
      : this.#open.list().find(({ recorder }) => recorder.token === token)?.stored)
    return this.#store.find(token)
  }

  /** Searches the profiles, newest first. */
  async search(criteria: SearchCriteria): Promise<SearchResult> {
    const due = this.#open.list().map(({ due }) => due)
    await Promise.all(due.filter(promise => promise !== null))
    return this.#store.search(criteria)
  }

  /** Whether a request has not been answered yet. */
  isRunning(token: string): boolean {
    return this.#open.list().some(({ recorder }) => recorder.token === token && recorder.ended === null)
  }
}
