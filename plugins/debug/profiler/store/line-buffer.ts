// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Line } from './profile-segment.ts'

/**
 * Milliseconds after a write during which profiles are gathered, to be written together. A system call takes as long as
 * serialising a profile.
 */
const gathering = 20

/** Gathered bytes that are written at once. */
const gatheredMost = 64 * 1024

/** Writes lines that follow each other closely together. */
export class LineBuffer {
  readonly #write: (lines: readonly Line[]) => void
  #lines: Line[] = []
  #bytes = 0
  /** Set while lines are gathered. */
  #timer: NodeJS.Timeout | null = null
  /** Milliseconds per line that the last write took. */
  writingCost = 0

  /** @param write must not throw, since a timer calls it too */
  constructor(write: (lines: readonly Line[]) => void) {
    this.#write = write
  }

  /** Writes a line at once, or within 20 ms if another was written just before. */
  add(line: Line): void {
    this.#lines.push(line)
    this.#bytes += line.size
    if (this.#timer === null || this.#bytes >= gatheredMost) this.flush()
  }

  /** Writes the gathered lines. */
  flush(): void {
    if (this.#lines.length === 0) return
    const began = performance.now()
    const lines = this.#lines
    this.#lines = []
    this.#bytes = 0
    this.#write(lines)
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
