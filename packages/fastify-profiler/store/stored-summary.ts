import type { ProfileSummary } from '../base/summary.ts'

const parse: (text: string) => ProfileSummary = JSON.parse

/**
 * The summary of a stored profile, kept as text until it is searched for. Ten thousand are kept, and the garbage
 * collector would copy each of their objects twice.
 */
export class StoredSummary {
  readonly token: string
  readonly time: number
  #stored: string | ProfileSummary

  /** @param stored the summary, or its text as JSON */
  constructor({ token, time }: Pick<ProfileSummary, 'token' | 'time'>, stored: string | ProfileSummary) {
    this.token = token
    this.time = time
    this.#stored = stored
  }

  read(): ProfileSummary {
    if (typeof this.#stored === 'string') this.#stored = parse(this.#stored)
    return this.#stored
  }
}
