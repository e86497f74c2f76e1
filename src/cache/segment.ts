import { LRUCache } from 'lru-cache'
import { sizeOfEntry } from './size.ts'
import type { ReadOutcome, StoreEvents } from './store-events.ts'

/** What is kept of one entity: whose rows, in which shape, under which key. */
export interface EntityMetadata {
  table: string
  /** The columns of a record. Other columns are another segment: a changed schema never reads an old record. */
  columns: readonly string[]
  /** The column whose value records are read by. Changes of this table's rows name it (migration 0002). */
  key: string
  /** Further tables that records are joined from: a change of theirs drops every record. */
  joins: readonly string[]
}

export interface SegmentOptions {
  maxEntries: number
  maxBytes: number
  /** Whether a record read at this time (of performance.now) may still be answered with. */
  isTrusted: (readAt: number, isStale: boolean) => boolean
  /** Whether a record that is not trusted is still better than none, where reading it anew failed so. */
  mayBeStale: (error: unknown) => boolean
  events: StoreEvents
}

interface Entry<Value> {
  value: Value
  readAt: number
  /** Whether it is from before, and could not be read anew at that time. */
  isStale: boolean
}

/** The records of one entity, read through: what is not here is loaded once, however many ask for it. */
export class Segment<Value> {
  readonly metadata: EntityMetadata
  readonly #load: (key: string) => Promise<Value>
  readonly #options: SegmentOptions
  /** Made with the first: it takes room for all at once, and few sites have a use for every segment. */
  #entries: LRUCache<string, Entry<Value>> | undefined
  /** Where there is no record (null). Apart, and fewer: anybody can make up so many keys that no record would be left. */
  #absences: LRUCache<string, Entry<Value>> | undefined
  readonly #loading = new Map<string, Promise<Value>>()
  /** How often anything was. */
  #forgotten = 0

  constructor(metadata: EntityMetadata, load: (key: string) => Promise<Value>, options: SegmentOptions) {
    this.metadata = metadata
    this.#load = load
    this.#options = options
  }

  /** The value itself where it is here, so that nothing need be awaited; else the promise of it. */
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
   * For a record that another one's loading brings along: called before that begins, it returns what keeps the record.
   * Where any was forgotten meanwhile, it may be out of date, and is not kept.
   */
  expect(): (key: string, value: Value) => void {
    const readAt = performance.now()
    const forgotten = this.#forgotten
    return (key, value) => {
      if (forgotten === this.#forgotten) this.#hold(key, value, readAt)
    }
  }

  /** Has nothing kept that is being loaded: it may be out of date. */
  doubt(): void {
    this.#forgotten++
    this.#loading.clear()
  }

  /** Forgets the record of one key, or all (null). What is being loaded may be out of date: it is not kept. */
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
        // No change of it is known: while the database is down it goes on being answered with, tried anew once a lifetime.
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

  /** Whether nothing was forgotten while this was being loaded. */
  #endLoading(key: string, loading: Promise<Value>): boolean {
    if (this.#loading.get(key) !== loading) return false
    return this.#loading.delete(key)
  }
}
