import type { ProfileBounds } from '../base/bounds.ts'
import { findSecrets } from './find-secrets.ts'
import { canBeFound, longestSearched, masked } from './known-secrets.ts'
import type { RequestSecrets } from './request-secrets.ts'

/** Replaces a text that could not be searched for secrets. */
export const leftOut = '[left out]'

/** Masks the secrets of one request in texts. */
export class TextMask {
  readonly #bounds: ProfileBounds
  readonly #secrets: RequestSecrets
  #charactersLeft: number
  /** The number of texts left out because there were too many to search. */
  dropped = 0

  constructor(bounds: ProfileBounds, secrets: RequestSecrets) {
    this.#bounds = bounds
    this.#secrets = secrets
    this.#charactersLeft = bounds.texts
  }

  /** Masks a text, and cuts it to the bound of one string. */
  text(text: string): string {
    const limit = this.#bounds.text
    const window = limit * 4
    const isLong = text.length > window
    // Masked before it is cut, since half a secret would not be recognised.
    const hidden = this.#hide(isLong ? text.slice(0, window) : text)
    const end = isLong ? Math.min(limit, hidden.length - longestSearched) : limit
    return isLong || hidden.length > limit ? `${hidden.slice(0, end)}… (${text.length} characters)` : hidden
  }

  /** Masks only known secrets, in a text that the profiler made. */
  ownText(text: string): string {
    return this.#secrets.hide(text)
  }

  /** Returns the number, or its masked text if it is a secret. Infinity and NaN become text. */
  number(value: number): number | string {
    if (Number.isFinite(value) && !this.#secrets.areInNumbers) return value
    const text = String(value)
    if (!Number.isFinite(value)) return text
    return !canBeFound(text) || this.#secrets.hide(text) === text ? value : this.text(text)
  }

  #hide(text: string): string {
    if (!canBeFound(text)) return text
    this.#charactersLeft -= text.length
    if (this.#charactersLeft < 0) this.dropped++
    if (this.#charactersLeft < 0 || this.#secrets.isIncomplete) return leftOut
    const hidden = this.#secrets.hide(text)
    const places = findSecrets(hidden)
    if (places.length === 0) return hidden
    let result = ''
    let at = 0
    for (const [from, to] of places) {
      result += hidden.slice(at, from) + masked
      at = to
    }
    return result + hidden.slice(at)
  }
}
