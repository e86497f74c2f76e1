import type { ProfileSummary } from '../base/profile.ts'
import type { Line } from './profile-segment.ts'

const unwrittenKept = 50

/** Keeps the newest of the profiles that could not be written. */
export class UnwrittenProfiles {
  readonly #lines = new Map<string, Line>()

  add(line: Line): void {
    this.#lines.set(line.summary.token, line)
    const [oldest] = this.#lines.keys()
    if (this.#lines.size > unwrittenKept && oldest !== undefined) this.#lines.delete(oldest)
  }

  /** The text of a profile; null if it is missing. */
  textOf(token: string): string | null {
    return this.#lines.get(token)?.profile ?? null
  }

  /** Oldest first. */
  summaries(): ProfileSummary[] {
    return [...this.#lines.values()].map(({ summary }) => summary)
  }
}
