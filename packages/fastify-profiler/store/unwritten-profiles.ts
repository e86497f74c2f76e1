import type { ProfileSummary } from '../base/summary.ts'
import type { Batch } from './profile-segment.ts'
import type { StoredSummary } from './stored-summary.ts'

const unwrittenKept = 50

/** Keeps the newest of the profiles that could not be written. */
export class UnwrittenProfiles {
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
    return [...this.#profiles.values()].map(({ summary }) => summary.read())
  }
}
