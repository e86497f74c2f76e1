import { EventEmitter } from 'node:events'
import { performance } from 'node:perf_hooks'
import { LRUCache } from 'lru-cache'
import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'

export interface EntityCacheOptions {
  /** Per segment. */
  maxEntries?: number
  /** Per segment. */
  maxBytes?: number
  /** How long a record is trusted while changes may be missed, in milliseconds. */
  deafLifetime?: number
}

/**
 * Caches database records in bounded segments. It is never out of date, because it is notified of every change. While
 * notifications may be missed it trusts a record for deafLifetime, and longer only if reading it again fails.
 */
export class EntityCache {
  readonly events = new EventEmitter<EntityCacheEvents>()
  readonly options: Required<EntityCacheOptions>
  readonly #segments: Pick<EntitySegment<unknown>, 'metadata' | 'forget' | 'doubt'>[] = []
  #deaf = false
  /** Records read before this time are only served if reading them again fails. */
  #trustedFrom = -Infinity

  constructor(options: EntityCacheOptions = {}) {
    this.options = { ...defaultBounds, deafLifetime: 1000, ...options }
  }

  /** @param load reads one record; null if there is none, which is cached too */
  segment<Value>(metadata: EntityMetadata, load: (key: string) => Promise<Value>): EntitySegment<Value> {
    const segment = new EntitySegment(metadata, load, this)
    this.#segments.push(segment)
    return segment
  }

  /** Whether a record may be served without reading it again. */
  trusts({ readAt, isStale }: Pick<Entry<unknown>, 'readAt' | 'isStale'>): boolean {
    if (readAt <= this.#trustedFrom) return false
    return !(this.#deaf || isStale) || performance.now() - readAt < this.options.deafLifetime
  }

  /** Whether a record may be served although reading it again failed. */
  mayServeAfter(error: unknown): boolean {
    // After an outage, notifications may work before queries do.
    return this.#deaf || error instanceof ServiceUnavailableHttpError
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

export interface EntityMetadata {
  table: string
  columns: readonly string[]
  /** The column by which records are read. Notifications of changes to the table contain its value (migration 0002). */
  key: string
  /** Joined tables. A change to one of them drops every record. */
  joins: readonly string[]
}

interface Entry<Value> {
  value: Value
  /** By performance.now. */
  readAt: number
  /** Whether reading it again at that time failed. The value is then older than readAt. */
  isStale: boolean
}

/** A read-through cache of one entity's records. Concurrent reads of a missing record share one load. */
export class EntitySegment<Value> {
  readonly metadata: EntityMetadata
  readonly #load: (key: string) => Promise<Value>
  readonly #cache: EntityCache
  /** Created with the first entry: it allocates space for maxEntries at once, and few sites use every segment. */
  #entries: LRUCache<string, Entry<Value>> | undefined
  /** Keys without a record (null). A smaller cache of their own, so that made-up keys do not evict records. */
  #absences: LRUCache<string, Entry<Value>> | undefined
  readonly #loading = new Map<string, Promise<Value>>()
  /** The number of calls that forgot or doubted records. */
  #forgotten = 0

  constructor(metadata: EntityMetadata, load: (key: string) => Promise<Value>, cache: EntityCache) {
    this.metadata = metadata
    this.#load = load
    this.#cache = cache
  }

  /** @returns the value itself if it is cached, so that callers need not await it; otherwise its promise */
  read(key: string): Value | Promise<Value> {
    const entry = this.#entries?.get(key) ?? this.#absences?.get(key)
    if (entry !== undefined && this.#cache.trusts(entry)) {
      this.#cache.events.emit('read', this.metadata, key, 'hit')
      if (entry.isStale) this.#cache.events.emit('stale', this.metadata, key)
      return entry.value
    }
    const loading = this.#loading.get(key)
    this.#cache.events.emit('read', this.metadata, key, loading === undefined ? 'miss' : 'shared')
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
        if (entry === undefined || !this.#cache.mayServeAfter(error)) throw error
        if (this.#cache.trusts(entry)) return entry.value
        // No change to it is known, so it is served while the database is down, and read again once per deafLifetime.
        this.#hold(key, entry.value, performance.now(), true)
        this.#cache.events.emit('stale', this.metadata, key)
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
      this.#absences ??= this.#makeCache(Math.ceil(this.#cache.options.maxEntries / 10))
      this.#absences.set(key, entry, size)
    } else {
      this.#absences?.delete(key)
      this.#entries ??= this.#makeCache(this.#cache.options.maxEntries)
      this.#entries.set(key, entry, size)
    }
  }

  #makeCache(max: number): LRUCache<string, Entry<Value>> {
    return new LRUCache({ max, maxSize: this.#cache.options.maxBytes })
  }

  /** @returns whether the record was not forgotten while it was being loaded */
  #endLoading(key: string, loading: Promise<Value>): boolean {
    if (this.#loading.get(key) !== loading) return false
    return this.#loading.delete(key)
  }
}

/** hit: the record was cached. miss: this read loads it. shared: another read was already loading it. */
export type ReadOutcome = 'hit' | 'miss' | 'shared'

export interface EntityCacheEvents {
  read: [metadata: EntityMetadata, key: string, outcome: ReadOutcome]
  /** A record was served that may be out of date, because the database did not answer. */
  stale: [metadata: EntityMetadata, key: string]
}

/** Passes a cached value to `use` at once, and a value that is still loading when its load has ended. */
export function whenRead<Value>(
  value: Value | Promise<Value>,
  use: (value: Value) => void,
  fail: (error: Error) => void,
): void {
  if (value instanceof Promise) value.then(use, fail)
  else use(value)
}

type Read<Values> = { -readonly [Index in keyof Values]: Awaited<Values[Index]> }

/** Several values that load at the same time, as one value for whenRead. */
export function together<Values extends readonly unknown[] | []>(values: Values): Read<Values> | Promise<Read<Values>> {
  return areRead(values) ? values : Promise.all(values)
}

function areRead<Values extends readonly unknown[]>(values: Values | Read<Values>): values is Read<Values> {
  return !values.some(value => value instanceof Promise)
}

/** What one cache holds. */
export const defaultBounds = { maxEntries: 100_000, maxBytes: 64 * 1024 * 1024 }

/** The approximate size of an entry in bytes, at two bytes per character. */
export function sizeOfEntry(key: string, value: unknown): number {
  return 200 + 2 * key.length + sizeOf(value)
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  return Object.entries(value).reduce((size, [key, member]) => size + 2 * key.length + sizeOf(member), 16)
}
