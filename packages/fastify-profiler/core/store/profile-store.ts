import type { StoreBounds } from '../bounds.ts'
import type { Profile } from '../profile.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../summary.ts'
import { newToken } from '../watch/request-identity.ts'
import { type Batch, bytesOf } from './profile-segment.ts'
import { parseProfile, type ProfileText, samplesIn, type StoredSummary } from './profile-text.ts'
import { matcherOf, newestFirst, pageOf } from './search.ts'
import { LineBuffer, Segments, Troubles } from './segments.ts'
import { type Address, AddressFile, type Configuration, ConfigurationFiles, StoreDirectory } from './store-directory.ts'

const unwrittenKept = 50

/** Keeps the newest of the profiles that could not be written. */
class UnwrittenProfiles {
  readonly #profiles = new Map<string, { summary: StoredSummary; text: string }>()

  /** Keeps the first profile of a batch. */
  addFirst({ lines: [first], bytes }: Batch): void {
    if (first === undefined) return
    const { summary, start, size } = first
    this.#profiles.set(summary.token, { summary, text: bytes.toString('utf8', start, size - 1) })
    const [oldest] = this.#profiles.keys()
    if (this.#profiles.size > unwrittenKept && oldest !== undefined) this.#profiles.delete(oldest)
  }

  /** The text of a profile; null if it is missing. */
  textOf(token: string): string | null {
    return this.#profiles.get(token)?.text ?? null
  }

  /** Oldest first. */
  summaries(): ProfileSummary[] {
    return [...this.#profiles.values()].flatMap(({ summary }) => summary.read() ?? [])
  }
}

interface ProfileStoreOptions {
  directory: string
  bounds: StoreBounds
  /** Called once for each kind of trouble, until that is over. */
  complain: (error: unknown, message: string) => void
  /** What is added to a profile when it is read. */
  completions?: ReadonlyArray<(profile: Profile, directory: StoreDirectory) => Partial<Profile>>
}

/** The tokens of the profiles before and after another; null at either end. */
export interface Neighbours {
  previous: string | null
  next: string | null
}

const cannotWrite = 'The profiler cannot write profiles, and keeps only the newest in memory'

/**
 * A searchable collection of profiles on disk. Summaries are in memory, for searches. Several processes may share a
 * directory: each appends to its own segments and reads the others'. Errors of the disk are never thrown: the newest
 * profiles that cannot be written are kept in memory.
 */
export class ProfileStore {
  /** For features that keep files of their own. */
  readonly directory: StoreDirectory
  readonly #troubles: Troubles
  readonly #configurations: ConfigurationFiles
  readonly #address: AddressFile
  readonly #completions: NonNullable<ProfileStoreOptions['completions']>
  readonly #segments: Segments
  readonly #unwritten = new UnwrittenProfiles()
  readonly #buffer = new LineBuffer(batch => this.#writeBatch(batch))

  constructor({ directory: path, bounds, complain, completions = [] }: ProfileStoreOptions) {
    const directory = new StoreDirectory(path)
    const troubles = new Troubles(complain)
    const configurations = new ConfigurationFiles(directory)
    const directoryMade = () => {
      this.tryToWrite(() => configurations.writeAgain())
    }
    this.#troubles = troubles
    this.#configurations = configurations
    this.directory = directory
    this.#completions = completions
    this.#address = new AddressFile(directory)
    this.#segments = new Segments({ directory, bounds, troubles, directoryMade })
  }

  /** Milliseconds per profile that the last write took. */
  get writingCost(): number {
    return this.#buffer.writingCost
  }

  /** Reads what is stored, which can take half a second. Otherwise the first `write` does. */
  open(): void {
    this.#segments.refresh()
  }

  /** Stores a profile at once, or within 20 ms if another was stored just before. */
  write(summary: ProfileSummary, profile: ProfileText): void {
    this.#buffer.add(summary, profile)
  }

  flush(): void {
    this.#buffer.flush()
  }

  /** Finds a profile by its token, or the newest by "latest". @returns null if there is none */
  find(token: string): Profile | null {
    if (token === 'latest') {
      const [newest] = this.search({ perPage: 1 }).profiles
      return newest === undefined ? null : this.find(newest.token)
    }
    const profile = this.read(token)
    return profile && this.#completed(profile)
  }

  /** A profile without what is added to it when it is found; null if there is none. */
  read(token: string): Profile | null {
    const text = this.#textOf(token)
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

  /** Finds the samples of a profile, as the text of a `.cpuprofile` or `.heapprofile`; null if it has none. */
  findSamples(token: string): string | null {
    const text = this.#textOf(token)
    return text === null ? null : samplesIn(text)
  }

  #textOf(token: string): string | null {
    this.flush()
    const unwritten = this.#unwritten.textOf(token)
    if (unwritten === null && !this.#segments.has(token)) this.#segments.refresh()
    return this.#segments.textOf(token) ?? unwritten
  }

  #completed(profile: Profile): Profile {
    for (const complete of this.#completions) Object.assign(profile, complete(profile, this.directory))
    return profile
  }

  search(criteria: SearchCriteria): SearchResult {
    return pageOf(criteria, this.summaries().filter(matcherOf(criteria)))
  }

  /** Finds the profiles before and after another, in the order of a search. */
  neighbours(token: string): Neighbours {
    const tokens = newestFirst(this.summaries()).map(summary => summary.token)
    const place = tokens.indexOf(token)
    if (place === -1) return { previous: null, next: null }
    return { previous: tokens[place + 1] ?? null, next: tokens[place - 1] ?? null }
  }

  /** The summaries of all profiles, in reverse, because sorting by time keeps the order within a millisecond. */
  summaries(): ProfileSummary[] {
    this.flush()
    this.#segments.refresh()
    return [...this.#segments.summaries(), ...this.#unwritten.summaries()].reverse()
  }

  writeConfiguration(configuration: Configuration): void {
    this.tryToWrite(() => this.#configurations.write(configuration))
  }

  /** Finds a profile's configuration; null if it has been deleted or cannot be read. */
  findConfiguration(key: string): Configuration | null {
    return this.#configurations.find(key)
  }

  findNewestConfiguration(): Configuration | null {
    return this.#configurations.findNewest()
  }

  /** Stores where an application shows its profiles. @returns a function that deletes it */
  writeAddress(url: string): () => void {
    const address = { url, id: newToken() }
    this.tryToWrite(() => this.#address.write(address))
    return () => {
      this.tryToWrite(() => this.#address.remove(address))
    }
  }

  /** The address of the application that listened last; null if it is not stored any more. */
  findAddress(): Address | null {
    return this.#address.read()
  }

  /** Writes files beside the profiles. Reports errors of the disk as those of profiles. @returns whether it could */
  tryToWrite(write: () => void): boolean {
    try {
      write()
      return true
    } catch (error) {
      this.#troubles.meet('write', error, cannotWrite)
      return false
    }
  }

  close(): void {
    this.#buffer.close()
    this.#segments.close()
  }

  #writeBatch({ lines, bytes }: Batch): void {
    let written = 0
    for (let left = lines; left.length > 0; left = lines.slice(written)) {
      written += this.#append({ lines: left, bytes: bytes.subarray(bytesOf(lines.slice(0, written))) })
    }
  }

  /** @returns the number of lines that are written or kept in memory */
  #append(batch: Batch): number {
    try {
      const count = this.#segments.append(batch)
      this.#troubles.calm('write')
      return count
    } catch (error) {
      this.#segments.abandonCurrent(error)
      this.#unwritten.addFirst(batch)
      this.#troubles.meet('write', error, cannotWrite)
      return 1
    }
  }
}
