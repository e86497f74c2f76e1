// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import type { ProfileSummary } from '../base/summary.ts'
import { bytesPerCharacter, separator, type ProfileText } from './profile-text.ts'
import type { Batch, Line } from './profile-segment.ts'
import { StoredSummary } from './stored-summary.ts'

/**
 * Milliseconds after a write during which profiles are gathered, to be written together. A system call takes as long as
 * serialising a profile.
 */
const gathering = 20

/** Gathered bytes that are written at once. */
const gatheredMost = 64 * 1024

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
    const longest = (head.length + rest.length + spans.length + end.length + 2) * bytesPerCharacter
    if (this.#size + longest > capacity) this.flush()
    if (longest > capacity) this.#buffer = Buffer.allocUnsafeSlow(longest)
    this.#buffer ??= Buffer.allocUnsafeSlow(capacity)
    const from = this.#size
    const start = this.#append(this.#buffer, head) + this.#append(this.#buffer, separator)
    this.#append(this.#buffer, rest)
    this.#append(this.#buffer, separator)
    this.#append(this.#buffer, spans)
    this.#append(this.#buffer, end)
    this.#lines.push({ summary: new StoredSummary(summary, head), start, size: this.#size - from })
    if (this.#timer === null || this.#size >= gatheredMost) this.flush()
  }

  /** Writes the gathered lines. */
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

  /** @returns the bytes of the text */
  #append(buffer: Buffer, text: string): number {
    const size = buffer.write(text, this.#size)
    this.#size += size
    return size
  }
}
