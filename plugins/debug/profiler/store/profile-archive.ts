import type { Profile, SearchCriteria, SearchResult } from '../base/profile.ts'
import type { OpenExchanges } from '../watch/open-exchanges.ts'
import type { ProfileStore } from './profile-store.ts'

/** Finds profiles, including those that are about to be stored. */
export class ProfileArchive {
  readonly #open: OpenExchanges
  readonly #store: ProfileStore

  constructor(open: OpenExchanges, store: ProfileStore) {
    this.#open = open
    this.#store = store
  }

  /** Resolves when every request that has been answered has its profile, on disk where there is one. */
  async settled(): Promise<void> {
    const stored = this.#open.list().map(({ stored }) => stored)
    await Promise.all(stored.filter(promise => promise !== null))
    this.#store.flush()
  }

  /** The profile of a token; "latest" is the newest. */
  async find(token: string): Promise<Profile | null> {
    await (token === 'latest'
      ? this.settled()
      : this.#open.list().find(({ recorder }) => recorder.token === token)?.stored)
    return this.#store.find(token)
  }

  /** The profiles there are that match, the newest first. */
  async search(criteria: SearchCriteria): Promise<SearchResult> {
    const due = this.#open.list().map(({ due }) => due)
    await Promise.all(due.filter(promise => promise !== null))
    return this.#store.search(criteria)
  }

  /** Whether the answer to a request is not out yet. */
  isRunning(token: string): boolean {
    return this.#open.list().some(({ recorder }) => recorder.token === token && recorder.ended === null)
  }
}
