import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'
import { type EntityMetadata, Segment } from './segment.ts'
import { ResponseCache } from './response-cache.ts'
import { StoreEvents } from './store-events.ts'

export interface StoreOptions {
  /** Of each segment. */
  maxEntries?: number
  /** Of each segment. */
  maxBytes?: number
  /** In milliseconds: how long a record is trusted while changes may be missed. */
  deafLifetime?: number
}

interface Forgetful {
  readonly metadata: EntityMetadata
  forget(key: string | null): void
  doubt(): void
}

/**
 * Holds records that were read from the database, in segments, each bounded. Told of every change it is never out
 * of date; while it may not be told, it trusts what it holds no longer than a moment, unless it cannot be read anew.
 */
export class Store {
  readonly events = new StoreEvents()
  readonly responses: ResponseCache
  readonly #options: Required<StoreOptions>
  readonly #segments: Forgetful[] = []
  #deaf = false
  /** What was read before is no more than what there is to answer with while the database is down. */
  #trustedFrom = -Infinity

  constructor(options: StoreOptions = {}) {
    this.#options = { maxEntries: 100_000, maxBytes: 64 * 1024 * 1024, deafLifetime: 1000, ...options }
    this.responses = new ResponseCache(this.#options)
  }

  /** @param load reads one record, or null where there is none, which is held too */
  segment<Value>(metadata: EntityMetadata, load: (key: string) => Promise<Value>): Segment<Value> {
    const { maxEntries, maxBytes, deafLifetime } = this.#options
    const segment = new Segment(metadata, load, {
      maxEntries,
      maxBytes,
      events: this.events,
      isTrusted: (readAt, isStale) =>
        readAt > this.#trustedFrom && (!(this.#deaf || isStale) || performance.now() - readAt < deafLifetime),
      // Changes may be heard again before queries are answered.
      mayBeStale: error => this.#deaf || error instanceof ServiceUnavailableHttpError,
    })
    this.#segments.push(segment)
    return segment
  }

  /** Rows of a table were changed: those under one key, or under any (null). */
  change(table: string, key: string | null): void {
    for (const segment of this.#segments) {
      if (segment.metadata.table === table) segment.forget(key)
      else if (segment.metadata.joins.includes(table)) segment.forget(null)
    }
  }

  /** Changes arrive from here on; what came before may have been missed. */
  listen(): void {
    for (const segment of this.#segments) segment.doubt()
    this.#trustedFrom = performance.now()
    this.#deaf = false
  }

  /** Changes may be missed until listen is called. */
  deafen(): void {
    this.#deaf = true
  }
}
