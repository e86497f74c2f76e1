import type { Boundary } from '../base/boundary.ts'
import { kindOfFailure } from '../base/foreign-value.ts'
import type { Exception, Profile } from '../base/profile.ts'
import type { Exchange } from '../watch/exchange.ts'
import { collect, collectBare, collectExceptions, type CollectionParts } from './collect.ts'

/** Makes a profile of every exchange, even if not all of it can be read. */
export class Collector {
  readonly #parts: CollectionParts
  readonly #boundary: Boundary

  constructor(parts: CollectionParts, boundary: Boundary) {
    this.#parts = parts
    this.#boundary = boundary
  }

  /** Sets the key of the configuration for profiles from now on. */
  setConfiguration(key: string): void {
    this.#parts.configuration = key
  }

  /**
   * Makes a profile and passes it to `use`, with the text of its samples if it has any. If either throws, `use` gets a
   * bare profile instead, so that every request has one.
   * @returns the result of `use`
   */
  collect<Result>(exchange: Exchange, use: (profile: Profile, samples: string | null) => Result): Result {
    try {
      const { profile, samples } = collect(exchange, this.#parts)
      return use(profile, samples)
    } catch (error) {
      this.#boundary.tell(error)
      const { profile, samples } = collectBare(exchange, this.#parts, kindOfFailure(error))
      return use(profile, samples)
    }
  }

  /** Makes only the exceptions of an exchange. Throws if a value cannot be read. */
  collectExceptions(exchange: Exchange): Exception[] {
    return collectExceptions(exchange, this.#parts)
  }
}
