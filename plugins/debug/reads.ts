import type { IncomingMessage } from 'node:http'
import type { EntityMetadata } from '../../src/cache/segment.ts'
import type { ReadOutcome, StoreEvents } from '../../src/cache/store-events.ts'
import { currentRecorder, isSensitiveField, masked, type Recorder, toMicroseconds } from 'fastify-profiler'

/** One read of the store. */
export interface ReadRecord {
  /** The table whose records were read, and the column that they are read by with its value. */
  table: string
  column: string
  value: string
  outcome: ReadOutcome
  /** Milliseconds since the request came in. */
  start: number
}

/** The reads of one request: the first of them in full, and how many there were of each outcome. */
export interface RequestReads {
  first: ReadRecord[]
  hit: number
  miss: number
  shared: number
}

/** What the store had of a record. */
export const answers: Record<ReadOutcome, string> = { hit: 'hit', miss: 'miss', shared: 'shared load' }

/** How many reads of one request are kept: a panel's data holds 2,000 values. */
const mostKept = 300
/** Of one request: more would leave no room on its timeline for its hooks. */
const mostSpans = 500

/** Hears of every read of the store while a request is profiled, and keeps it under the request. */
export class StoreLog {
  readonly #requests = new WeakMap<Recorder, RequestReads>()
  readonly #stale = new WeakMap<IncomingMessage, Set<string>>()

  /** @returns the function that stops it */
  listen(events: StoreEvents): () => void {
    const read = (metadata: EntityMetadata, key: string, outcome: ReadOutcome) => this.#read(metadata, key, outcome)
    const stale = ({ table }: EntityMetadata) => this.#readStale(table)
    events.on('read', read).on('stale', stale)
    return () => {
      events.off('read', read).off('stale', stale)
    }
  }

  of(recorder: Recorder): RequestReads | null {
    return this.#requests.get(recorder) ?? null
  }

  /** The tables of which the request was answered with what may have changed meanwhile. */
  staleTablesOf(raw: IncomingMessage): readonly string[] {
    return [...(this.#stale.get(raw) ?? [])]
  }

  #readStale(table: string): void {
    const raw = currentRecorder()?.raw
    if (raw !== undefined) this.#stale.set(raw, (this.#stale.get(raw) ?? new Set()).add(table))
  }

  #read({ table, key: column }: EntityMetadata, key: string, outcome: ReadOutcome): void {
    const recorder = currentRecorder()
    if (recorder === undefined) return
    const value = isSensitiveField(column, key) ? masked : key
    const reads = this.#requests.get(recorder) ?? { first: [], hit: 0, miss: 0, shared: 0 }
    if (reads.hit + reads.miss + reads.shared < mostSpans) {
      recorder.record({ kind: 'cache', name: `${answers[outcome]} ${table}`, detail: value }, 0)
    } else recorder.note(`Only the first ${mostSpans} reads of the cache are on the timeline.`)
    reads[outcome]++
    if (reads.first.length < mostKept) {
      reads.first.push({ table, column, value, outcome, start: toMicroseconds(recorder.now()) })
    }
    this.#requests.set(recorder, reads)
  }
}
