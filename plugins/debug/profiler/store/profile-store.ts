import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
// Not the globals: tests replace those by a clock that stands still.
import { clearTimeout, setTimeout } from 'node:timers'
import { threadId } from 'node:worker_threads'
import type { StoreBounds } from '../base/bounds.ts'
import {
  profileVersion,
  type Configuration,
  type Profile,
  type ProfileSummary,
  type SearchCriteria,
  type SearchResult,
} from '../base/profile.ts'
import { parseProfile } from './profile-text.ts'
import { matcherOf, pageOf } from './search.ts'
import { isMissing, lineOf, Segment, type Entry, type Line } from './profile-segment.ts'

/** Profiles are forgotten one by one, files deleted as a whole: so much of the store's bytes goes at once. */
const segmentsPerStore = 8

/** What could not be written is kept in memory, so that the newest can be looked at nevertheless. */
const unwrittenKept = 50

/**
 * Milliseconds within which what comes after a written profile is gathered, to be written together: a call of the
 * file system costs as much as the text of a profile.
 */
const gathering = 20

/** Bytes that are gathered at most. */
const gatheredMost = 64 * 1024

const configurationsKept = 20

/** Milliseconds: a disk that is nearly full takes one profile, and not the next. */
const calming = 60_000

/** With the version of what is in it: what another one wrote is not read, and goes when a segment is begun. */
const segmentName = new RegExp(`^profiles-v${profileVersion}-[0-9a-z]+(?:-\\d+)+\\.ndjson$`)
const anySegmentName = /^profiles-.+\.ndjson$/
const configurationName = /^configuration-[\w-]+\.json$/

/** Counted for all stores of a thread: two of them may share a directory, and never a segment. */
let segmentsBegun = 0

export interface ProfileStoreOptions {
  directory: string
  bounds: StoreBounds
  /** Told once of each kind of trouble, until it is over. */
  complain: (error: unknown, message: string) => void
}

/**
 * Profiles on disk, in append-only segments of bounded size, with their summaries in memory for searches.
 * Several processes may share a directory: each appends to segments of its own and reads the others'. Nothing
 * here throws because of the disk: a profile that cannot be written is kept in memory for a while.
 */
export class ProfileStore {
  readonly #directory: string
  readonly #bounds: StoreBounds
  readonly #complain: ProfileStoreOptions['complain']
  /** Oldest first. */
  #segments: Segment[] = []
  readonly #byToken = new Map<string, Entry>()
  readonly #unwritten = new Map<string, Line>()
  #gathered: Line[] = []
  #gatheredBytes = 0
  /** Runs while profiles are gathered. */
  #timer: NodeJS.Timeout | null = null
  #current: Segment | null = null
  #bytes = 0
  /** Files that cannot be deleted: no longer part of the store. */
  readonly #undeletable = new Set<string>()
  /** What was written last: it goes with the profiles, and comes with them again. */
  #configuration: Configuration | null = null
  /** When each kind was met with last. */
  readonly #troubles = new Map<string, number>()
  /** Milliseconds each of the profiles took that were written last. */
  writingCost = 0

  constructor({ directory, bounds, complain }: ProfileStoreOptions) {
    this.#directory = directory
    this.#bounds = bounds
    this.#complain = complain
  }

  /** Stores a profile: at once where none was stored just before, else within moments, together with others. */
  write(summary: ProfileSummary, profile: string): void {
    const line = lineOf(summary, profile)
    this.#gathered.push(line)
    this.#gatheredBytes += line.size
    if (this.#timer === null || this.#gatheredBytes >= gatheredMost) this.flush()
  }

  /** Writes what is gathered, and drops the oldest where that would exceed a bound. */
  flush(): void {
    if (this.#gathered.length === 0) return
    const began = performance.now()
    const gathered = this.#gathered
    this.#gathered = []
    this.#gatheredBytes = 0
    for (let from = 0; from < gathered.length;) from += this.#append(gathered, from)
    this.writingCost = (performance.now() - began) / gathered.length
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.flush()
    }, gathering).unref()
  }

  /** The profile of a token ("latest" is the newest), or null. */
  find(token: string): Profile | null {
    if (token === 'latest') {
      const [newest] = this.search({ perPage: 1 }).profiles
      return newest === undefined ? null : this.find(newest.token)
    }
    this.flush()
    if (!this.#byToken.has(token) && !this.#unwritten.has(token)) this.#refresh()
    const text = this.#textOf(token)
    if (text === null) return null
    try {
      const profile = parseProfile(text, token)
      if (profile !== null) return profile
    } catch {
      // Told below, as a line that parses to something else is.
    }
    this.#trouble('corrupt', undefined, 'The profiler found a stored profile that cannot be read, and skips it')
    return null
  }

  /** What matches, the newest first. */
  search(criteria: SearchCriteria): SearchResult {
    this.flush()
    this.#refresh()
    const matches = matcherOf(criteria)
    const oldest = Date.now() - this.#bounds.age
    const found: ProfileSummary[] = []
    for (const segment of this.#segments) {
      for (const { summary } of segment.entries) if (summary.time >= oldest && matches(summary)) found.push(summary)
    }
    for (const { summary } of this.#unwritten.values()) if (matches(summary)) found.push(summary)
    // The pages show the newest first, and the sort keeps the order of what came in the same millisecond.
    return pageOf(criteria, found.reverse())
  }

  /** Stores what many profiles share, once. */
  writeConfiguration(configuration: Configuration): void {
    this.#configuration = configuration
    const path = this.#configurationPath(configuration.key)
    try {
      this.#makeDirectory()
      // Another process must never read half of it.
      writeFileSync(`${path}.${process.pid}`, JSON.stringify(configuration), { mode: 0o600 })
      renameSync(`${path}.${process.pid}`, path)
      this.#pruneConfigurations()
    } catch (error) {
      this.#trouble('write', error, 'The profiler cannot write; profiles are kept in memory, and only the newest')
    }
  }

  /** The configuration a profile names, or null when it is gone. */
  findConfiguration(key: string): Configuration | null {
    if (this.#configuration?.key === key) return this.#configuration
    if (!/^[\w-]+$/.test(key)) return null
    const path = this.#configurationPath(key)
    try {
      if (!statSync(path).isFile()) return null
      const configuration: unknown = JSON.parse(readFileSync(path, 'utf8'))
      return isConfiguration(configuration, key) ? configuration : null
    } catch {
      return null
    }
  }

  close(): void {
    this.flush()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#current?.close()
    this.#current = null
  }

  #textOf(token: string): string | null {
    const entry = this.#byToken.get(token)
    if (entry === undefined) return this.#unwritten.get(token)?.profile ?? null
    if (entry.summary.time < Date.now() - this.#bounds.age) return null
    try {
      return entry.segment.read(entry)
    } catch (error) {
      if (isMissing(error)) this.#forget(entry.segment)
      else this.#trouble('read', error, 'The profiler cannot read a stored profile')
      return null
    }
  }

  /** Appends as many of these lines, from one on, as belong into one segment. @returns how many */
  #append(lines: readonly Line[], from: number): number {
    let batch = lines.slice(from, from + 1)
    try {
      const segment = this.#segmentFor(batch)
      batch = this.#fitting(segment, lines, from)
      this.#makeRoom(segment, batch)
      const before = segment.size
      for (const entry of segment.append(batch)) this.#byToken.set(entry.summary.token, entry)
      this.#bytes += segment.size - before
      this.#calm('write')
    } catch (error) {
      this.#abandonCurrent(error)
      for (const line of batch) this.#keep(line)
      this.#trouble('write', error, 'The profiler cannot write; profiles are kept in memory, and only the newest')
    }
    return batch.length
  }

  /** Keeps in memory what cannot be written. */
  #keep(line: Line): void {
    this.#unwritten.set(line.summary.token, line)
    const [oldest] = this.#unwritten.keys()
    if (this.#unwritten.size > unwrittenKept && oldest !== undefined) this.#unwritten.delete(oldest)
  }

  #segmentFor(first: readonly Line[]): Segment {
    this.#checkCurrent()
    if (this.#current === null || this.#isFull(this.#current, first)) this.#current = this.#begin()
    return this.#current
  }

  /** One of the lines, and those after it that its segment has room for, too. */
  #fitting(segment: Segment, lines: readonly Line[], from: number): Line[] {
    let to = from + 1
    while (to < lines.length && !this.#isFull(segment, lines.slice(from, to + 1))) to++
    return lines.slice(from, to)
  }

  /** Forgets the oldest profiles and deletes the oldest segments until these lines are within the store's bounds. */
  #makeRoom(current: Segment, batch: readonly Line[]): void {
    const { profiles, bytes, age } = this.#bounds
    this.#forgetDownTo(profiles - batch.length)
    const oldestKept = Date.now() - age
    for (const [index, segment] of [...this.#segments].entries()) {
      if (segment === current) break
      const tooMuch = this.#bytes + bytesOf(batch) > bytes
      const tooOld = segment.entries.every(({ summary }) => summary.time < oldestKept)
      // Another process may just be about to write into one without a line.
      if (tooMuch || (tooOld && (segment.lines > 0 || index === 0))) this.#delete(segment)
    }
  }

  /** Forgets the oldest profiles of all segments, so that this many are left. */
  #forgetDownTo(count: number): void {
    while (this.#byToken.size > count) {
      const first = this.#segments.flatMap(({ entries }) => entries.slice(0, 1))
      const oldest = first.reduce((one, other) => (other.summary.time < one.summary.time ? other : one))
      oldest.segment.entries.shift()
      this.#byToken.delete(oldest.summary.token)
    }
  }

  /** Leaves the segment in hand to itself if somebody else has touched it: what is left of it is read like any other. */
  #checkCurrent(): void {
    if (this.#current !== null && !this.#current.isIntact()) this.#forget(this.#current)
  }

  #delete(segment: Segment): void {
    try {
      segment.delete()
    } catch (error) {
      this.#undeletable.add(segment.name)
      this.#trouble('delete', error, 'The profiler cannot delete a segment of its store, and leaves it alone')
    }
    this.#forget(segment)
  }

  #begin(): Segment {
    this.#current?.close()
    if (this.#makeDirectory() && this.#configuration !== null) this.writeConfiguration(this.#configuration)
    this.#dropOtherVersions()
    this.#refresh()
    const started = Date.now().toString(36)
    const number = String(segmentsBegun++).padStart(6, '0')
    const segment = new Segment(
      join(this.#directory, `profiles-v${profileVersion}-${started}-${process.pid}-${threadId}-${number}.ndjson`),
    )
    this.#segments.push(segment)
    return segment
  }

  #dropOtherVersions(): void {
    for (const name of this.#filesNamed(anySegmentName)) {
      if (!segmentName.test(name)) rmSync(join(this.#directory, name), { force: true })
    }
  }

  /** Makes the directory, and keeps it out of the repository that it may stand in. @returns whether there was none */
  #makeDirectory(): boolean {
    const isNew = mkdirSync(this.#directory, { recursive: true, mode: 0o700 }) !== undefined
    if (isNew) writeFileSync(join(this.#directory, '.gitignore'), '*\n', { mode: 0o600 })
    return isNew
  }

  /** After a failed write: what was written before stays as it is, and an empty segment is tried again. */
  #abandonCurrent(error: unknown): void {
    this.#current?.close()
    if (this.#current?.size !== 0 || isMissing(error)) this.#current = null
  }

  /** Whether a segment is too full, or too old, for these lines; an empty one takes any single line. */
  #isFull(segment: Segment, lines: readonly Line[]): boolean {
    const { profiles, bytes, age } = this.#bounds
    const [first] = segment.entries
    const count = segment.lines + lines.length
    if (count === 1) return false
    return (
      segment.size + bytesOf(lines) > bytes / segmentsPerStore ||
      count > Math.max(1, Math.floor(profiles / segmentsPerStore)) ||
      (first !== undefined && Date.now() - first.summary.time > age / segmentsPerStore)
    )
  }

  /** Looks for what other processes wrote or deleted since. */
  #refresh(): void {
    this.#checkCurrent()
    let names: string[]
    try {
      names = this.#filesNamed(segmentName).filter(name => !this.#undeletable.has(name))
    } catch (error) {
      if (!isMissing(error)) this.#trouble('read', error, 'The profiler cannot read its directory')
      names = []
    }
    const present = new Set(names)
    for (const segment of [...this.#segments]) {
      if (segment !== this.#current && !present.has(segment.name)) this.#forget(segment)
    }
    const known = new Set(this.#segments.map(segment => segment.name))
    for (const name of names) if (!known.has(name)) this.#segments.push(new Segment(join(this.#directory, name)))
    this.#segments.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const segment of this.#segments) if (segment !== this.#current) this.#readOn(segment)
    this.#forgetDownTo(this.#bounds.profiles)
  }

  #readOn(segment: Segment): void {
    const { size, corrupt } = segment
    try {
      const added = segment.readOn()
      if (added === null) return this.#readAgain(segment)
      for (const entry of added) this.#byToken.set(entry.summary.token, entry)
    } catch (error) {
      if (!isMissing(error)) this.#trouble('read', error, 'The profiler cannot read a segment of its store')
    }
    this.#bytes += segment.size - size
    if (segment.corrupt > corrupt) {
      this.#trouble('corrupt', undefined, 'The profiler found a stored profile that cannot be read, and skips it')
    }
  }

  /** Somebody cut it short: what was known of it is worth nothing. */
  #readAgain(segment: Segment): void {
    const again = new Segment(segment.path)
    const place = this.#segments.indexOf(segment)
    this.#forget(segment)
    this.#segments.splice(place, 0, again)
    this.#readOn(again)
  }

  #forget(segment: Segment): void {
    this.#segments = this.#segments.filter(other => other !== segment)
    this.#bytes -= segment.size
    for (const entry of segment.entries) this.#byToken.delete(entry.summary.token)
    if (segment !== this.#current) return
    segment.close()
    this.#current = null
  }

  #configurationPath(key: string): string {
    return join(this.#directory, `configuration-${key}.json`)
  }

  /** Regular files only: a folder or a pipe of that name is nobody's profiles. */
  #filesNamed(pattern: RegExp): string[] {
    return readdirSync(this.#directory, { withFileTypes: true })
      .filter(entry => entry.isFile() && pattern.test(entry.name))
      .map(({ name }) => name)
  }

  #pruneConfigurations(): void {
    const names = this.#filesNamed(configurationName).sort()
    for (const name of names.slice(0, -configurationsKept)) unlinkSync(join(this.#directory, name))
  }

  #trouble(kind: string, error: unknown, message: string): void {
    const isKnown = this.#troubles.has(kind)
    this.#troubles.set(kind, Date.now())
    if (!isKnown) this.#complain(error, message)
  }

  /** Something went well: a trouble that has not been met with for a while is over, and worth a line if it comes again. */
  #calm(kind: string): void {
    const last = this.#troubles.get(kind)
    if (last !== undefined && Date.now() - last > calming) this.#troubles.delete(kind)
  }
}

function bytesOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { size }) => sum + size, 0)
}

function isConfiguration(value: unknown, key: string): value is Configuration {
  return typeof value === 'object' && value !== null && 'key' in value && value.key === key
}
