import type { Boundary } from '../base/boundary.ts'
import { kindOfFailure } from '../base/foreign-value.ts'
import type { Profile } from '../base/profile.ts'
import type { Exchange } from '../watch/exchange.ts'
import { collect, collectBare, type CollectionParts } from './collect.ts'

/** Makes a profile of every exchange, however little of it can be read. */
export class Collector {
  readonly #parts: CollectionParts
  readonly #boundary: Boundary

  constructor(parts: CollectionParts, boundary: Boundary) {
    this.#parts = parts
    this.#boundary = boundary
  }

  /** Names the configuration that requests run under from now on. */
  setConfiguration(key: string): void {
    this.#parts.configuration = key
  }

  /**
   * What is made of the profile. Where that cannot be made, or nothing can be made of it, it is that of a bare profile:
   * no request is lost by what it carries.
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
