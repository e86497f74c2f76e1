import { LRUCache } from 'lru-cache'
import { defaultBounds, sizeOfEntry } from './entity-cache.ts'

/** The segment in which @fastify/caching would store the ETags of its responses. */
export const etagSegment = 'etags'

type Key = string | { id: string; segment: string }
type Callback<Result> = (error: unknown, result: Result) => void

interface Cached<Item> {
  item: Item
  /** The time it was set, in milliseconds since the epoch. */
  stored: number
  /** Milliseconds. */
  ttl: number
}

/**
 * The app.cache of application routes. It implements the abstract-cache protocol of @fastify/caching, synchronously.
 * Items are strings, buffers or JSON values, and are not copied.
 *
 * It does not store ETags. plugins/caching.ts says why.
 */
export class ResponseCache {
  /** Created with the first entry, because it allocates space for maxEntries at once. */
  #entries: LRUCache<string, Cached<unknown>> | undefined

  get<Item = unknown>(key: Key, callback: Callback<Cached<Item> | null>): void
  get<Item = unknown>(key: Key): Promise<Cached<Item> | null>
  get(key: Key, callback?: Callback<Cached<unknown> | null>): Promise<Cached<unknown> | null> | void {
    const entry = this.#entries?.get(nameOf(key)) ?? null
    if (callback === undefined) return Promise.resolve(entry)
    callback(null, entry)
  }

  /** @param ttl in milliseconds; items without one are not stored */
  set(key: Key, item: unknown, ttl: number, callback?: Callback<unknown>): void {
    const name = nameOf(key)
    const isEtag = typeof key !== 'string' && key.segment === etagSegment
    if (ttl > 0 && !isEtag) {
      this.#entries ??= new LRUCache({ max: defaultBounds.maxEntries, maxSize: defaultBounds.maxBytes })
      this.#entries.set(name, { item, stored: Date.now(), ttl }, { ttl, size: sizeOfEntry(name, item) })
    } else this.#entries?.delete(name)
    callback?.(null, item)
  }
}

function nameOf(key: Key): string {
  return JSON.stringify(typeof key === 'string' ? key : [key.segment, key.id])
}
