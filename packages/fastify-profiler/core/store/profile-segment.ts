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
import { attempt } from '../foreign-value.ts'
import { StoredSummary } from './profile-text.ts'

/** The position of a profile in its segment, and its summary for searches. */
export interface Entry {
  summary: StoredSummary
  segment: Segment
  offset: number
  length: number
}

/** Non-blocking, or opening a named pipe would wait for a writer. */
const readable = constants.O_RDONLY | constants.O_NONBLOCK

/** Profiles are private to the user who runs the application. */
const ownerOnly = 0o600

const tab = 0x09
const newline = 0x0a

/** A profile to store. Its line is the summary, a tab, the profile and a newline. */
export interface Line {
  summary: StoredSummary
  /** The bytes before the profile. */
  start: number
  /** Bytes of the whole line. */
  size: number
}

/** Profiles to store, and the bytes of their lines, one after the other. These are valid until the batch is stored. */
export interface Batch {
  lines: readonly Line[]
  bytes: Buffer
}

export function bytesOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { size }) => sum + size, 0)
}

/**
 * A file of profiles, one per line: the summary, a tab and the profile. Both are JSON, which has no raw tab or newline.
 * Only the process that created the file appends to it. Every process may read and delete it.
 */
export class Segment {
  readonly path: string
  readonly name: string
  /** In the order written, without the profiles that the store has dropped. */
  readonly entries: Entry[] = []
  /** The number of profiles written or read so far, including dropped ones. */
  lines = 0
  /** Bytes written or read so far. */
  size = 0
  /** Lines that hold no profile. */
  corrupt = 0
  #descriptor: number | null = null
  /** The inode of the descriptor's file. */
  #inode = 0

  constructor(path: string) {
    this.path = path
    this.name = basename(path)
  }

  /** Whether the file is as this process left it: not deleted, replaced, moved or written to by others. */
  isIntact(): boolean {
    if (this.#descriptor === null) return true
    const now = statSync(this.path, { throwIfNoEntry: false })
    return now !== undefined && now.ino === this.#inode && now.size === this.size
  }

  /** Appends profiles. Throws errors of the file system, and then restores the file. */
  append({ lines, bytes }: Batch): Entry[] {
    if (this.#descriptor === null) {
      this.#descriptor = openSync(this.path, 'a', ownerOnly)
      this.#inode = fstatSync(this.#descriptor).ino
    }
    const added: Entry[] = []
    let offset = this.size
    for (const { summary, start, size } of lines) {
      added.push({ summary, segment: this, offset: offset + start, length: size - start - 1 })
      offset += size
    }
    try {
      // An earlier attempt may have left half a line.
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

  /** Reads what was appended since the last call. @returns the new entries; null if the file has shrunk */
  readOn(): Entry[] | null {
    const added: Entry[] = []
    const descriptor = openSync(this.path, readable)
    try {
      const { size } = fstatSync(descriptor)
      if (size < this.size) return null
      const bytes = readRange(descriptor, this.size, size - this.size)
      let start = 0
      // A line without a newline is being written, or its process has died.
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

  read({ offset, length }: Entry): string {
    const descriptor = openSync(this.path, readable)
    try {
      return readRange(descriptor, offset, length).toString()
    } finally {
      closeSync(descriptor)
    }
  }

  /** Deletes the file, if no other process has done so. */
  delete(): void {
    this.close()
    rmSync(this.path, { force: true })
  }

  /** Never throws, since everything has been written by then. */
  close(): void {
    const descriptor = this.#descriptor
    this.#descriptor = null
    if (descriptor !== null) attempt(() => closeSync(descriptor), undefined)
  }

  #entryOf(line: Buffer, offset: number): Entry | null {
    const end = line.indexOf(tab)
    const summary = end === -1 ? null : StoredSummary.of(line.toString('utf8', 0, end))
    return summary && { summary, segment: this, offset: offset + end + 1, length: line.length - end - 1 }
  }
}

function readRange(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Math.max(0, length))
  let read = 0
  while (read < length) {
    const count = readSync(descriptor, buffer, read, length - read, position + read)
    if (count === 0) break
    read += count
  }
  return buffer.subarray(0, read)
}

/** Whether an error is ENOENT: the file or folder does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
