import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename } from 'node:path'
import { attempt } from '../base/foreign-value.ts'
import type { ProfileSummary } from '../base/profile.ts'

/** Where in a segment a profile stands; its summary is in memory, for searches. */
export interface Entry {
  summary: ProfileSummary
  segment: Segment
  offset: number
  length: number
}

/** Opening a pipe would otherwise wait for somebody to write to it. */
const readable = constants.O_RDONLY | constants.O_NONBLOCK

/** Profiles tell more of requests than others on the machine need know. */
const ownerOnly = 0o600

const tab = 0x09
const newline = 0x0a

/** A profile that is to be stored: the two parts of its line. */
export interface Line {
  summary: ProfileSummary
  /** Up to the tab, and what of the line's bytes that is. */
  head: string
  start: number
  profile: string
  /** Bytes of the whole line. */
  size: number
}

/** Makes a profile's line. */
export function lineOf(summary: ProfileSummary, profile: string): Line {
  const head = `${JSON.stringify(summary)}\t`
  const start = Buffer.byteLength(head)
  return { summary, head, start, profile, size: start + Buffer.byteLength(profile) + 1 }
}

/** Where lines are made ready to be written: a buffer for each of them is a third of what writing it costs. */
const draft = Buffer.allocUnsafeSlow(256 * 1024)
const bytesPerCharacter = 3

/**
 * One file of profiles, a line each: the summary, a tab, the profile, both as JSON (which has no raw tab or
 * newline). Only the process that made it appends to it; any may read it, and any may delete it.
 */
export class Segment {
  readonly path: string
  readonly name: string
  /** In the order written, without those that the store has forgotten. */
  readonly entries: Entry[] = []
  /** Profiles written or read so far, forgotten ones too. */
  lines = 0
  /** Bytes read or written so far. */
  size = 0
  /** Lines that could not be read. */
  corrupt = 0
  #descriptor: number | null = null
  /** Which file the descriptor is of. */
  #inode = 0

  constructor(path: string) {
    this.path = path
    this.name = basename(path)
  }

  /** Whether the file is there as it was left: neither deleted, replaced, moved nor written to by anybody else. */
  isIntact(): boolean {
    if (this.#descriptor === null) return true
    const now = statSync(this.path, { throwIfNoEntry: false })
    return now !== undefined && now.ino === this.#inode && now.size === this.size
  }

  /** Adds profiles; throws what the file system says, and leaves the file as it was then. */
  append(lines: readonly Line[]): Entry[] {
    if (this.#descriptor === null) {
      this.#descriptor = openSync(this.path, 'a', ownerOnly)
      this.#inode = fstatSync(this.#descriptor).ino
    }
    const added: Entry[] = []
    let text = ''
    let offset = this.size
    for (const { summary, head, start, profile, size } of lines) {
      text += `${head}${profile}\n`
      added.push({ summary, segment: this, offset: offset + start, length: size - start - 1 })
      offset += size
    }
    const bytes = encode(text)
    try {
      // An attempt before this one may have left half a line.
      if (this.size === 0) ftruncateSync(this.#descriptor)
      let written = 0
      while (written < bytes.length) written += writeSync(this.#descriptor, bytes, written)
    } catch (error) {
      ftruncateSync(this.#descriptor, this.size)
      throw error
    }
    this.size = offset
    for (const entry of added) this.entries.push(entry)
    this.lines += added.length
    return added
  }

  /** Reads what was written since the last time, by whichever process; answers the new entries, null if the file shrank. */
  readOn(): Entry[] | null {
    const added: Entry[] = []
    const descriptor = openSync(this.path, readable)
    try {
      const { size } = fstatSync(descriptor)
      if (size < this.size) return null
      const bytes = readRange(descriptor, this.size, size - this.size)
      let start = 0
      // A line without its end is still being written, or was when its process died.
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        const entry = this.#entryOf(bytes.subarray(start, end), this.size + start)
        if (entry === null) this.corrupt++
        else added.push(entry)
        start = end + 1
      }
      this.size += start
    } finally {
      closeSync(descriptor)
    }
    for (const entry of added) this.entries.push(entry)
    this.lines += added.length
    return added
  }

  /** The text of one profile. */
  read({ offset, length }: Entry): string {
    const descriptor = openSync(this.path, readable)
    try {
      return readRange(descriptor, offset, length).toString()
    } finally {
      closeSync(descriptor)
    }
  }

  /** Deletes the file; another process may have been faster. */
  delete(): void {
    this.close()
    rmSync(this.path, { force: true })
  }

  /** Never throws: what was written is written, whatever the file system says of the descriptor. */
  close(): void {
    const descriptor = this.#descriptor
    this.#descriptor = null
    if (descriptor !== null) attempt(() => closeSync(descriptor), undefined)
  }

  #entryOf(line: Buffer, offset: number): Entry | null {
    const end = line.indexOf(tab)
    if (end === -1) return null
    try {
      const summary: unknown = JSON.parse(line.toString('utf8', 0, end))
      if (!isSummary(summary)) return null
      return { summary, segment: this, offset: offset + end + 1, length: line.length - end - 1 }
    } catch {
      return null
    }
  }
}

/** The bytes of lines, good until the next ones. */
function encode(lines: string): Buffer {
  if (lines.length * bytesPerCharacter > draft.length) return Buffer.from(lines)
  return draft.subarray(0, draft.write(lines))
}

function readRange(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(Math.max(0, length))
  let read = 0
  while (read < length) {
    const count = readSync(descriptor, buffer, read, length - read, position + read)
    if (count === 0) break
    read += count
  }
  return buffer.subarray(0, read)
}

function isSummary(value: unknown): value is ProfileSummary {
  return (
    typeof value === 'object' &&
    value !== null &&
    'token' in value &&
    typeof value.token === 'string' &&
    'time' in value &&
    typeof value.time === 'number' &&
    'duration' in value &&
    typeof value.duration === 'number' &&
    'status' in value &&
    (value.status === null || typeof value.status === 'number') &&
    'method' in value &&
    typeof value.method === 'string' &&
    'url' in value &&
    typeof value.url === 'string' &&
    'labels' in value &&
    typeof value.labels === 'object' &&
    value.labels !== null
  )
}

/** Whether an error says that a file or folder is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
