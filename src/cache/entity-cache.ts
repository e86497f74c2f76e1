import { performance } from 'node:perf_hooks'
import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'
import { type EntityMetadata, EntitySegment } from './entity-segment.ts'
import { defaultBounds } from './size.ts'
import { EntityCacheEvents } from './entity-cache-events.ts'

export interface EntityCacheOptions {
  /** Per segment. */
  maxEntries?: number
  /** Per segment. */
  maxBytes?: number
  /** How long a record is trusted while changes may be missed, in milliseconds. */
  deafLifetime?: number
}

interface Forgetful {
  readonly metadata: EntityMetadata
  forget(key: string | null): void
  doubt(): void
}

/**
 * Caches database records in bounded segments. It is never out of date, because it is notified of every change. While
 * notifications may be missed it trusts a record for deafLifetime, and longer only if reading it again fails.
 */
export class EntityCache {
  readonly events = new EntityCacheEvents()
  readonly #options: Required<EntityCacheOptions>
  readonly #segments: Forgetful[] = []
  #deaf = false
  /** Records read before this time are only served if reading them again fails. */
  #trustedFrom = -Infinity

  constructor(options: EntityCacheOptions = {}) {
    this.#options = { ...defaultBounds, deafLifetime: 1000, ...options }
  }

  /** @param load reads one record; null if there is none, which is cached too */
  segment<Value>(metadata: EntityMetadata, load: (key: string) => Promise<Value>): EntitySegment<Value> {
    const { maxEntries, maxBytes, deafLifetime } = this.#options
    const segment = new EntitySegment(metadata, load, {
      maxEntries,
      maxBytes,
      events: this.events,
      isTrusted: (readAt, isStale) =>
        readAt > this.#trustedFrom && (!(this.#deaf || isStale) || performance.now() - readAt < deafLifetime),
      // After an outage, notifications may work before queries do.
      mayBeStale: error => this.#deaf || error instanceof ServiceUnavailableHttpError,
    })
    this.#segments.push(segment)
    return segment
  }

  /** Forgets the records that a change to a table affects: to rows with this key, or to any rows (null). */
  change(table: string, key: string | null): void {
    for (const segment of this.#segments) {
      if (segment.metadata.table === table) segment.forget(key)
      else if (segment.metadata.joins.includes(table)) segment.forget(null)
    }
  }

  /** Notifications arrive from now on. Earlier ones may have been missed, so all records have to be read again. */
  listen(): void {
    for (const segment of this.#segments) segment.doubt()
    this.#trustedFrom = performance.now()
    this.#deaf = false
  }

  /** Notifications may be missed until listen(). */
  deafen(): void {
    this.#deaf = true
  }
}
