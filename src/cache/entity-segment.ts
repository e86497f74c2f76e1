import { performance } from 'node:perf_hooks'
import { LRUCache } from 'lru-cache'
import { sizeOfEntry } from './size.ts'
import type { ReadOutcome, EntityCacheEvents } from './entity-cache-events.ts'

/** Describes the cached records of one entity. */
export interface EntityMetadata {
  table: string
  /** The columns of a record. */
  columns: readonly string[]
  /** The column by which records are read. Notifications of changes to the table contain its value (migration 0002). */
  key: string
  /** Joined tables. A change to one of them drops every record. */
  joins: readonly string[]
}

export interface EntitySegmentOptions {
  maxEntries: number
  maxBytes: number
  /** Whether a record read at this time (by performance.now) may still be served. */
  isTrusted: (readAt: number, isStale: boolean) => boolean
  /** Whether an untrusted record may be served after reading it again failed with this error. */
  mayBeStale: (error: unknown) => boolean
  events: EntityCacheEvents
}

interface Entry<Value> {
  value: Value
  readAt: number
  /** Whether reading it again at that time failed. The value is then older than readAt. */
  isStale: boolean
}

/** A read-through cache of one entity's records. Concurrent reads of a missing record share one load. */
export class EntitySegment<Value> {
  readonly metadata: EntityMetadata
  readonly #load: (key: string) => Promise<Value>
  readonly #options: EntitySegmentOptions
  /** Created with the first entry: it allocates space for maxEntries at once, and few sites use every segment. */
  #entries: LRUCache<string, Entry<Value>> | undefined
  /** Keys without a record (null). A smaller cache of their own, so that made-up keys do not evict records. */
  #absences: LRUCache<string, Entry<Value>> | undefined
  readonly #loading = new Map<string, Promise<Value>>()
  /** The number of calls that forgot or doubted records. */
  #forgotten = 0

  constructor(metadata: EntityMetadata, load: (key: string) => Promise<Value>, options: EntitySegmentOptions) {
    this.metadata = metadata
    this.#load = load
    this.#options = options
  }

  /** @returns the value itself if it is cached, so that callers need not await it; otherwise its promise */
  read(key: string): Value | Promise<Value> {
    const entry = this.#entries?.get(key) ?? this.#absences?.get(key)
    if (entry !== undefined && this.#options.isTrusted(entry.readAt, entry.isStale)) {
      this.#tellRead(key, 'hit')
      if (entry.isStale) this.#options.events.emit('stale', this.metadata, key)
      return entry.value
    }
    const loading = this.#loading.get(key)
    this.#tellRead(key, loading === undefined ? 'miss' : 'shared')
    return loading ?? this.#startLoading(key)
  }

  /**
   * For records that come with the load of another one. Call it before that load.
   * @returns a function that caches a record, unless any record was forgotten since, because it may be out of date then
   */
  expect(): (key: string, value: Value) => void {
    const readAt = performance.now()
    const forgotten = this.#forgotten
    return (key, value) => {
      if (forgotten === this.#forgotten) this.#hold(key, value, readAt)
    }
  }

  /** Does not cache the loads in progress, because they may be out of date. */
  doubt(): void {
    this.#forgotten++
    this.#loading.clear()
  }

  /** Forgets one key's record, or all (null). Does not cache loads in progress, because they may be out of date. */
  forget(key: string | null): void {
    if (key === null) {
      this.#entries?.clear()
      this.#absences?.clear()
      this.doubt()
    } else {
      this.#forgotten++
      this.#entries?.delete(key)
      this.#absences?.delete(key)
      this.#loading.delete(key)
    }
  }

  #startLoading(key: string): Promise<Value> {
    const readAt = performance.now()
    const loading: Promise<Value> = this.#load(key).then(
      value => {
        if (this.#endLoading(key, loading)) this.#hold(key, value, readAt)
        return value
      },
      error => {
        this.#endLoading(key, loading)
        const entry = this.#entries?.peek(key) ?? this.#absences?.peek(key)
        if (entry === undefined || !this.#options.mayBeStale(error)) throw error
        if (this.#options.isTrusted(entry.readAt, entry.isStale)) return entry.value
        // No change to it is known, so it is served while the database is down, and read again once per deafLifetime.
        this.#hold(key, entry.value, performance.now(), true)
        this.#options.events.emit('stale', this.metadata, key)
        return entry.value
      },
    )
    this.#loading.set(key, loading)
    return loading
  }

  #hold(key: string, value: Value, readAt: number, isStale = false): void {
    const entry = { value, readAt, isStale }
    const size = { size: sizeOfEntry(key, value) }
    if (value === null) {
      this.#entries?.delete(key)
      this.#absences ??= this.#makeCache(Math.ceil(this.#options.maxEntries / 10))
      this.#absences.set(key, entry, size)
    } else {
      this.#absences?.delete(key)
      this.#entries ??= this.#makeCache(this.#options.maxEntries)
      this.#entries.set(key, entry, size)
    }
  }

  #tellRead(key: string, outcome: ReadOutcome): void {
    if (this.#options.events.areReadsFollowed) this.#options.events.emit('read', this.metadata, key, outcome)
  }

  #makeCache(max: number): LRUCache<string, Entry<Value>> {
    return new LRUCache({ max, maxSize: this.#options.maxBytes })
  }

  /** @returns whether the record was not forgotten while it was being loaded */
  #endLoading(key: string, loading: Promise<Value>): boolean {
    if (this.#loading.get(key) !== loading) return false
    return this.#loading.delete(key)
  }
}
