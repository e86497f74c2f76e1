import type { Boundary } from '../base/boundary.ts'
import { kindOfFailure } from '../base/foreign-value.ts'
import type { Profile } from '../base/profile.ts'
import type { Exchange } from '../watch/exchange.ts'
import { collect, collectBare, type CollectionParts } from './collect.ts'

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
   * Makes a profile and passes it to `use`. If either throws, `use` gets a bare profile instead, so that every request
   * has one.
   * @returns the result of `use`
   */
  collect<Result>(exchange: Exchange, use: (profile: Profile) => Result): Result {
    try {
      return use(collect(exchange, this.#parts))
    } catch (error) {
      this.#boundary.tell(error)
      return use(collectBare(exchange, this.#parts, kindOfFailure(error)))
    }
  }
}
