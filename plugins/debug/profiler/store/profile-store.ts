import type { StoreBounds } from '../base/bounds.ts'
import type { Configuration, Profile, ProfileSummary, SearchCriteria, SearchResult } from '../base/profile.ts'
import { ConfigurationFiles } from './configuration-files.ts'
import { LineBuffer } from './line-buffer.ts'
import { lineOf, type Line } from './profile-segment.ts'
import { parseProfile } from './profile-text.ts'
import { matcherOf, pageOf } from './search.ts'
import { Segments } from './segments.ts'
import { StoreDirectory } from './store-directory.ts'
import { Troubles } from './troubles.ts'
import { UnwrittenProfiles } from './unwritten-profiles.ts'

export interface ProfileStoreOptions {
  directory: string
  bounds: StoreBounds
  /** Called once for each kind of trouble, until that is over. */
  complain: (error: unknown, message: string) => void
}

const cannotWrite = 'The profiler cannot write profiles, and keeps only the newest in memory'

/**
 * Stores profiles on disk in append-only segments, and keeps their summaries in memory for searches. Several processes
 * may share a directory: each appends to its own segments and reads the others'. Errors of the disk are never thrown:
 * the newest profiles that cannot be written are kept in memory.
 */
export class ProfileStore {
  readonly #troubles: Troubles
  readonly #configurations: ConfigurationFiles
  readonly #segments: Segments
  readonly #unwritten = new UnwrittenProfiles()
  readonly #buffer = new LineBuffer(lines => this.#writeLines(lines))

  constructor({ directory: path, bounds, complain }: ProfileStoreOptions) {
    const directory = new StoreDirectory(path)
    const troubles = new Troubles(complain)
    const configurations = new ConfigurationFiles(directory)
    const directoryMade = () => this.#tryToWrite(() => configurations.writeAgain())
    this.#troubles = troubles
    this.#configurations = configurations
    this.#segments = new Segments({ directory, bounds, troubles, directoryMade })
  }

  /** Milliseconds per profile that the last write took. */
  get writingCost(): number {
    return this.#buffer.writingCost
  }

  /** Stores a profile at once, or within 20 ms if another was stored just before. */
  write(summary: ProfileSummary, profile: string): void {
    this.#buffer.add(lineOf(summary, profile))
  }

  /** Writes the gathered profiles. */
  flush(): void {
    this.#buffer.flush()
  }

  /** Finds a profile by its token, or the newest by "latest". @returns null if there is none */
  find(token: string): Profile | null {
    if (token === 'latest') {
      const [newest] = this.search({ perPage: 1 }).profiles
      return newest === undefined ? null : this.find(newest.token)
    }
    this.flush()
    const unwritten = this.#unwritten.textOf(token)
    if (unwritten === null && !this.#segments.has(token)) this.#segments.refresh()
    const text = this.#segments.textOf(token) ?? unwritten
    if (text === null) return null
    try {
      const profile = parseProfile(text, token)
      if (profile !== null) return profile
    } catch {
      // Reported below, like valid JSON that is no profile.
    }
    this.#troubles.meet('corrupt', undefined, 'The profiler found a stored profile that cannot be read, and skips it')
    return null
  }

  /** Searches the profiles, newest first. */
  search(criteria: SearchCriteria): SearchResult {
    this.flush()
    this.#segments.refresh()
    const matches = matcherOf(criteria)
    const found: ProfileSummary[] = []
    for (const summary of this.#segments.summaries()) if (matches(summary)) found.push(summary)
    for (const summary of this.#unwritten.summaries()) if (matches(summary)) found.push(summary)
    // Reversed, because sorting by time keeps the order of profiles of the same millisecond.
    return pageOf(criteria, found.reverse())
  }

  writeConfiguration(configuration: Configuration): void {
    this.#tryToWrite(() => this.#configurations.write(configuration))
  }

  /** Finds a profile's configuration; null if it has been deleted or cannot be read. */
  findConfiguration(key: string): Configuration | null {
    return this.#configurations.find(key)
  }

  close(): void {
    this.#buffer.close()
    this.#segments.close()
  }

  #tryToWrite(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.#troubles.meet('write', error, cannotWrite)
    }
  }

  #writeLines(lines: readonly Line[]): void {
    for (let left = lines; left.length > 0;) left = left.slice(this.#append(left))
  }

  /** @returns the number of lines that are written or kept in memory */
  #append(lines: readonly Line[]): number {
    try {
      const count = this.#segments.append(lines)
      this.#troubles.calm('write')
      return count
    } catch (error) {
      this.#segments.abandonCurrent(error)
      for (const line of lines.slice(0, 1)) this.#unwritten.add(line)
      this.#troubles.meet('write', error, cannotWrite)
      return 1
    }
  }
}
