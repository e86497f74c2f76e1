import { rmSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import type { StoreBounds } from '../base/bounds.ts'
import { profileVersion, type ProfileSummary } from '../base/profile.ts'
import { isMissing, Segment, type Entry, type Line } from './profile-segment.ts'
import type { StoreDirectory } from './store-directory.ts'
import type { Troubles } from './troubles.ts'

/** Profiles are forgotten one by one, files deleted as a whole: so much of the store's bytes goes at once. */
const segmentsPerStore = 8

/** Contains the version of what is stored: files of other versions are not read, and go when a segment is begun. */
const segmentName = new RegExp(`^profiles-v${profileVersion}-[0-9a-z]+(?:-\\d+)+\\.ndjson$`)
const anySegmentName = /^profiles-.+\.ndjson$/

/** Counts for all stores of a thread: two of them may share a directory, and never a segment. */
let segmentsBegun = 0

export interface SegmentsParts {
  directory: StoreDirectory
  bounds: StoreBounds
  troubles: Troubles
  /** Called when the directory was missing and has been made again. */
  directoryMade: () => void
}

/** Keeps profiles in segments that together stay within the store's bounds. */
export class Segments {
  readonly #parts: SegmentsParts
  /** Oldest first. */
  #segments: Segment[] = []
  readonly #byToken = new Map<string, Entry>()
  /** The one that this process appends to. */
  #current: Segment | null = null
  #bytes = 0
  /** Files that cannot be deleted: no longer part of the store. */
  readonly #undeletable = new Set<string>()

  constructor(parts: SegmentsParts) {
    this.#parts = parts
  }

  has(token: string): boolean {
    return this.#byToken.has(token)
  }

  /** The text of a profile; null if it is not here, too old, or cannot be read. */
  textOf(token: string): string | null {
    const entry = this.#byToken.get(token)
    if (entry === undefined || entry.summary.time < this.#oldestTime()) return null
    try {
      return entry.segment.read(entry)
    } catch (error) {
      if (isMissing(error)) this.#forget(entry.segment)
      else this.#parts.troubles.meet('read', error, 'The profiler cannot read a stored profile')
      return null
    }
  }

  /** What can be searched, oldest segment first. */
  *summaries(): Iterable<ProfileSummary> {
    const oldest = this.#oldestTime()
    for (const segment of this.#segments) {
      for (const { summary } of segment.entries) if (summary.time >= oldest) yield summary
    }
  }

  /**
   * Appends as many of these lines as belong into one segment, and drops the oldest profiles where that exceeds a bound.
   * Throws what the file system says.
   * @returns how many
   */
  append(lines: readonly Line[]): number {
    const segment = this.#segmentFor(lines.slice(0, 1))
    let count = 1
    while (count < lines.length && !this.#isFull(segment, lines.slice(0, count + 1))) count++
    const batch = lines.slice(0, count)
    this.#makeRoom(segment, batch)
    const before = segment.size
    for (const entry of segment.append(batch)) this.#byToken.set(entry.summary.token, entry)
    this.#bytes += segment.size - before
    return count
  }

  /** After a failed write: what was written before stays as it is, and an empty segment is tried again. */
  abandonCurrent(error: unknown): void {
    this.#current?.close()
    if (this.#current?.size !== 0 || isMissing(error)) this.#current = null
  }

  /** Looks for what other processes have written or deleted since. */
  refresh(): void {
    this.#checkCurrent()
    const names = this.#names()
    const present = new Set(names)
    for (const segment of [...this.#segments]) {
      if (segment !== this.#current && !present.has(segment.name)) this.#forget(segment)
    }
    const known = new Set(this.#segments.map(segment => segment.name))
    for (const name of names) {
      if (!known.has(name)) this.#segments.push(new Segment(this.#parts.directory.pathOf(name)))
    }
    this.#segments.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const segment of this.#segments) if (segment !== this.#current) this.#readOn(segment)
    this.#forgetDownTo(this.#parts.bounds.profiles)
  }

  close(): void {
    this.#current?.close()
    this.#current = null
  }

  #oldestTime(): number {
    return Date.now() - this.#parts.bounds.age
  }

  #segmentFor(first: readonly Line[]): Segment {
    this.#checkCurrent()
    if (this.#current === null || this.#isFull(this.#current, first)) this.#current = this.#begin()
    return this.#current
  }

  /** Leaves the current segment alone if somebody else has touched it: what is left of it is read like any other. */
  #checkCurrent(): void {
    if (this.#current !== null && !this.#current.isIntact()) this.#forget(this.#current)
  }

  /** Whether a segment is too full, or too old, for these lines; an empty one takes any single line. */
  #isFull(segment: Segment, lines: readonly Line[]): boolean {
    const { profiles, bytes, age } = this.#parts.bounds
    const [first] = segment.entries
    const count = segment.lines + lines.length
    if (count === 1) return false
    return (
      segment.size + bytesOf(lines) > bytes / segmentsPerStore ||
      count > Math.max(1, Math.floor(profiles / segmentsPerStore)) ||
      (first !== undefined && Date.now() - first.summary.time > age / segmentsPerStore)
    )
  }

  #begin(): Segment {
    const { directory, directoryMade } = this.#parts
    this.#current?.close()
    if (directory.make()) directoryMade()
    for (const name of directory.filesNamed(anySegmentName)) {
      if (!segmentName.test(name)) rmSync(directory.pathOf(name), { force: true })
    }
    this.refresh()
    const started = Date.now().toString(36)
    const number = String(segmentsBegun++).padStart(6, '0')
    const name = `profiles-v${profileVersion}-${started}-${process.pid}-${threadId}-${number}.ndjson`
    const segment = new Segment(directory.pathOf(name))
    this.#segments.push(segment)
    return segment
  }

  /** Forgets the oldest profiles and deletes the oldest segments until these lines are within the store's bounds. */
  #makeRoom(current: Segment, batch: readonly Line[]): void {
    const { profiles, bytes } = this.#parts.bounds
    this.#forgetDownTo(profiles - batch.length)
    const oldestKept = this.#oldestTime()
    for (const [index, segment] of [...this.#segments].entries()) {
      if (segment === current) break
      const tooMuch = this.#bytes + bytesOf(batch) > bytes
      const tooOld = segment.entries.every(({ summary }) => summary.time < oldestKept)
      // Another process may be about to write into one without a line.
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

  #delete(segment: Segment): void {
    try {
      segment.delete()
    } catch (error) {
      this.#undeletable.add(segment.name)
      const message = 'The profiler cannot delete a segment of its store, and leaves it alone'
      this.#parts.troubles.meet('delete', error, message)
    }
    this.#forget(segment)
  }

  /** The files of all segments that are not given up. */
  #names(): string[] {
    const { directory, troubles } = this.#parts
    try {
      return directory.filesNamed(segmentName).filter(name => !this.#undeletable.has(name))
    } catch (error) {
      if (!isMissing(error)) troubles.meet('read', error, 'The profiler cannot read its directory')
      return []
    }
  }

  #readOn(segment: Segment): void {
    const { troubles } = this.#parts
    const { size, corrupt } = segment
    try {
      const added = segment.readOn()
      if (added === null) return this.#readAgain(segment)
      for (const entry of added) this.#byToken.set(entry.summary.token, entry)
    } catch (error) {
      if (!isMissing(error)) troubles.meet('read', error, 'The profiler cannot read a segment of its store')
    }
    this.#bytes += segment.size - size
    if (segment.corrupt > corrupt) {
      troubles.meet('corrupt', undefined, 'The profiler found a stored profile that cannot be read, and skips it')
    }
  }

  /** Reads a segment from the start, because somebody has cut it short. */
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
    if (segment === this.#current) this.close()
  }
}

function bytesOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { size }) => sum + size, 0)
}
