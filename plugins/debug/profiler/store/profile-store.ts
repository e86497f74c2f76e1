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
  /** Told once of each kind of trouble, until it is over. */
  complain: (error: unknown, message: string) => void
}

const cannotWrite = 'The profiler cannot write; profiles are kept in memory, and only the newest'

/**
 * Keeps profiles for later searches: on disk in append-only segments, with their summaries in memory.
 * Several processes may share a directory: each appends to segments of its own and reads the others'. Nothing
 * here throws because of the disk: a profile that cannot be written is kept in memory for a while.
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

  /** Milliseconds that each of the last profiles took to be written. */
  get writingCost(): number {
    return this.#buffer.writingCost
  }

  /** Stores a profile: at once if none was stored just before, and else within moments, together with others. */
  write(summary: ProfileSummary, profile: string): void {
    this.#buffer.add(lineOf(summary, profile))
  }

  /** Writes what is gathered. */
  flush(): void {
    this.#buffer.flush()
  }

  /** The profile of a token ("latest" is the newest), or null. */
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
      // Told below, as a line that parses to something else is.
    }
    this.#troubles.meet('corrupt', undefined, 'The profiler found a stored profile that cannot be read, and skips it')
    return null
  }

  /** What matches, the newest first. */
  search(criteria: SearchCriteria): SearchResult {
    this.flush()
    this.#segments.refresh()
    const matches = matcherOf(criteria)
    const found: ProfileSummary[] = []
    for (const summary of this.#segments.summaries()) if (matches(summary)) found.push(summary)
    for (const summary of this.#unwritten.summaries()) if (matches(summary)) found.push(summary)
    // The pages show the newest first, and the sort keeps the order of what came in the same millisecond.
    return pageOf(criteria, found.reverse())
  }

  /** Stores what many profiles share, once. */
  writeConfiguration(configuration: Configuration): void {
    this.#tryToWrite(() => this.#configurations.write(configuration))
  }

  /** The configuration a profile names, or null when it is gone. */
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

  /** @returns how many of the lines are done with */
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
