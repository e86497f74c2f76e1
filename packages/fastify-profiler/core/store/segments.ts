import { rmSync } from 'node:fs'
import { clearTimeout, setTimeout } from 'node:timers'
import { threadId } from 'node:worker_threads'
import type { StoreBounds } from '../bounds.ts'
import { attempt } from '../foreign-value.ts'
import { profileVersion } from '../profile.ts'
import type { ProfileSummary } from '../summary.ts'
import { type Batch, bytesOf, type Entry, isMissing, type Line, Segment } from './profile-segment.ts'
import { bytesPerCharacter, type ProfileText, separator, StoredSummary } from './profile-text.ts'
import type { StoreDirectory } from './store-directory.ts'

/** Files are deleted as a whole, so an eighth of the store's bytes goes at once. */
const segmentsPerStore = 8

/** Contains the version of the stored format. Files of other versions are never read, and are deleted with `#begin`. */
const segmentName = new RegExp(`^profiles-v${profileVersion}-[0-9a-z]+(?:-\\d+)+\\.ndjson$`)
const anySegmentName = /^profiles-.+\.ndjson$/

/** Counts for all stores of a thread, since two that share a directory must not share a segment. */
let segmentsBegun = 0

interface SegmentsParts {
  directory: StoreDirectory
  bounds: StoreBounds
  troubles: Troubles
  /** Called when the directory has been created. */
  directoryMade: () => void
}

/** Keeps profiles in segments, within the store's bounds. */
export class Segments {
  readonly #parts: SegmentsParts
  /** Oldest first. */
  #segments: Segment[] = []
  readonly #byToken = new Map<string, Entry>()
  /** The segment that this process appends to. */
  #current: Segment | null = null
  #bytes = 0
  /** The names of files that cannot be deleted. They are no longer part of the store. */
  readonly #undeletable = new Set<string>()

  constructor(parts: SegmentsParts) {
    this.#parts = parts
  }

  has(token: string): boolean {
    return this.#byToken.has(token)
  }

  /** Reads the text of a profile; null if it is missing, too old or unreadable. */
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

  /** The summaries of all profiles that are not too old, oldest segment first. */
  *summaries(): Iterable<ProfileSummary> {
    const oldest = this.#oldestTime()
    for (const segment of this.#segments) {
      for (const { summary } of segment.entries) {
        if (summary.time < oldest) continue
        const read = summary.read()
        if (read === null) this.#skipped()
        else yield read
      }
    }
  }

  /**
   * Appends as many lines as fit into one segment. Drops the oldest profiles to stay within the bounds. Throws errors
   * of the file system.
   * @returns the number of lines appended
   */
  append({ lines, bytes }: Batch): number {
    const segment = this.#segmentFor(lines.slice(0, 1))
    let count = 1
    while (count < lines.length && !this.#isFull(segment, lines.slice(0, count + 1))) count++
    const batch = lines.slice(0, count)
    this.#makeRoom(segment, batch)
    const before = segment.size
    const appended = segment.append({ lines: batch, bytes: bytes.subarray(0, bytesOf(batch)) })
    for (const entry of appended) this.#add(entry)
    this.#bytes += segment.size - before
    return count
  }

  /** Adds a profile, or replaces an earlier version of it. */
  #add(entry: Entry): void {
    const { token } = entry.summary
    const earlier = this.#byToken.get(token)
    if (earlier !== undefined) earlier.segment.entries.splice(earlier.segment.entries.lastIndexOf(earlier), 1)
    this.#byToken.set(token, entry)
  }

  /** Called after a failed write. The next one begins a new segment, or tries again if this one is empty. */
  abandonCurrent(error: unknown): void {
    this.#current?.close()
    if (this.#current?.size !== 0 || isMissing(error)) this.#current = null
  }

  /** Reads what other processes have written, and drops what they have deleted. */
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
    this.#segments.sort((one, other) => Number(one.name > other.name) - Number(one.name < other.name))
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

  /** Stops appending to the current segment if it was changed by others. It is then read like any other. */
  #checkCurrent(): void {
    if (this.#current !== null && !this.#current.isIntact()) this.#forget(this.#current)
  }

  /** Whether a segment is too full or too old for these lines. An empty one takes any single line. */
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

  /** Drops the oldest profiles and segments until the store has room for these lines. */
  #makeRoom(current: Segment, batch: readonly Line[]): void {
    const { profiles, bytes } = this.#parts.bounds
    this.#forgetDownTo(profiles - batch.length)
    const oldestKept = this.#oldestTime()
    for (const [index, segment] of [...this.#segments].entries()) {
      if (segment === current) break
      const tooMuch = this.#bytes + bytesOf(batch) > bytes
      const tooOld = segment.entries.every(({ summary }) => summary.time < oldestKept)
      // Another process may be about to write to an empty segment.
      if (tooMuch || (tooOld && (segment.lines > 0 || index === 0))) this.#delete(segment)
    }
  }

  /** Drops the oldest profiles of all segments until this many are left. */
  #forgetDownTo(count: number): void {
    while (this.#byToken.size > count) {
      const oldest = this.#segments.reduce((one, other) => (firstTime(other) < firstTime(one) ? other : one))
      const dropped = oldest.entries.shift()
      if (dropped !== undefined) this.#byToken.delete(dropped.summary.token)
    }
  }

  #delete(segment: Segment): void {
    try {
      segment.delete()
    } catch (error) {
      this.#undeletable.add(segment.name)
      const message = 'The profiler cannot delete a segment of its store, and ignores it'
      this.#parts.troubles.meet('delete', error, message)
    }
    this.#forget(segment)
  }

  /** The names of all segment files, except those that cannot be deleted. */
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
      for (const entry of added) this.#add(entry)
    } catch (error) {
      if (!isMissing(error)) troubles.meet('read', error, 'The profiler cannot read a segment of its store')
    }
    this.#bytes += segment.size - size
    if (segment.corrupt > corrupt) this.#skipped()
  }

  #skipped(): void {
    const message = 'The profiler found a stored profile that cannot be read, and skips it'
    this.#parts.troubles.meet('corrupt', undefined, message)
  }

  /** Reads a segment again from its start, because it has shrunk. */
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

function firstTime({ entries: [first] }: Segment): number {
  return first === undefined ? Infinity : first.summary.time
}

// Imported, because tests replace the global timers.
/**
 * Milliseconds after a write during which profiles are gathered, to be written together. A system call takes as long as
 * serialising a profile.
 */
const gathering = 20

/** Gathered bytes that are written at once. */
const gatheredMost = 256 * 1024

/** Bytes of the buffer in which lines are gathered. A line that is too long for it gets one of its own. */
const capacity = 2 * gatheredMost

/** Writes lines that follow each other closely together. */
export class LineBuffer {
  readonly #write: (batch: Batch) => void
  #lines: Line[] = []
  /** Made with the first line, since most applications of a test suite store none. */
  #buffer: Buffer | null = null
  /** Bytes of the gathered lines. */
  #size = 0
  /** Set while lines are gathered. */
  #timer: NodeJS.Timeout | null = null
  /** Milliseconds per line that the last write took. */
  writingCost = 0

  /** @param write must not throw, since a timer calls it too */
  constructor(write: (batch: Batch) => void) {
    this.#write = write
  }

  /** Writes a profile at once, or within 20 ms if another was written just before. */
  add(summary: ProfileSummary, [rest, spans, samples]: ProfileText): void {
    const head = JSON.stringify(summary)
    const end = samples === undefined ? '\n' : `${separator}${samples}\n`
    const line = `${head}${separator}${rest}${separator}${spans}${end}`
    const longest = line.length * bytesPerCharacter
    if (this.#size + longest > capacity) this.flush()
    if (longest > capacity) this.#buffer = Buffer.allocUnsafeSlow(longest)
    this.#buffer ??= Buffer.allocUnsafeSlow(capacity)
    const size = this.#buffer.write(line, this.#size)
    this.#size += size
    this.#lines.push({ summary: new StoredSummary(summary, head), start: Buffer.byteLength(head) + 1, size })
    if (this.#timer === null || this.#size >= gatheredMost) this.flush()
  }

  flush(): void {
    if (this.#buffer === null || this.#lines.length === 0) return
    const began = performance.now()
    const lines = this.#lines
    const bytes = this.#buffer.subarray(0, this.#size)
    this.#lines = []
    this.#size = 0
    if (this.#buffer.length > capacity) this.#buffer = null
    this.#write({ lines, bytes })
    this.writingCost = (performance.now() - began) / lines.length
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.flush()
    }, gathering).unref()
  }

  close(): void {
    this.flush()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

/** Milliseconds without trouble until it counts as over. A disk that is nearly full fails only now and then. */
const calming = 60_000

/** Reports each kind of trouble once, until it is over. */
export class Troubles {
  readonly #complain: (error: unknown, message: string) => void
  /** The time at which each kind last occurred. */
  readonly #met = new Map<string, number>()

  constructor(complain: (error: unknown, message: string) => void) {
    this.#complain = complain
  }

  meet(kind: string, error: unknown, message: string): void {
    const isKnown = this.#met.has(kind)
    this.#met.set(kind, Date.now())
    // A timer may call this, so a logger that throws would end the process.
    if (!isKnown) attempt(() => this.#complain(error, message), undefined)
  }

  /** Called when something succeeds. After a minute without trouble, the next one is reported again. */
  calm(kind: string): void {
    const last = this.#met.get(kind)
    if (last !== undefined && Date.now() - last > calming) this.#met.delete(kind)
  }
}
