// Not the globals: tests replace those by a clock that stands still.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Line } from './profile-segment.ts'

/**
 * Milliseconds during which profiles that follow a written one are gathered, to be written together: a call of the file
 * system costs as much as the text of a profile.
 */
const gathering = 20

/** Bytes that are gathered at most. */
const gatheredMost = 64 * 1024

/** Gathers lines that follow each other closely, so that they are written together. */
export class LineBuffer {
  readonly #write: (lines: readonly Line[]) => void
  #lines: Line[] = []
  #bytes = 0
  /** Runs while lines are gathered. */
  #timer: NodeJS.Timeout | null = null
  /** Milliseconds that writing took for each of the last lines. */
  writingCost = 0

  /** @param write must not throw: a timer calls it, too */
  constructor(write: (lines: readonly Line[]) => void) {
    this.#write = write
  }

  /** Takes a line: it is written at once if none was written just before, and else within moments. */
  add(line: Line): void {
    this.#lines.push(line)
    this.#bytes += line.size
    if (this.#timer === null || this.#bytes >= gatheredMost) this.flush()
  }

  /** Writes what is gathered. */
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
