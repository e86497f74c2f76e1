import type { EntityCache, EntityMetadata, ReadOutcome } from '../../src/cache/entity-cache.ts'
import { Attachment, currentRecorder, isSensitiveField, masked, type Recorder, toMicroseconds } from 'fastify-profiler'

/** One read of the cache. */
export interface ReadRecord {
  /** The table that was read, and the key column with its value. */
  table: string
  column: string
  value: string
  outcome: ReadOutcome
  /** Milliseconds since the start of the request. */
  start: number
}

/** The reads of one request: the first in full, all counted by outcome. */
export interface RequestReads {
  first: ReadRecord[]
  hit: number
  miss: number
  shared: number
}

/** Labels of the outcomes. */
export const answers: Record<ReadOutcome, string> = { hit: 'hit', miss: 'miss', shared: 'shared load' }

/** Reads kept per request, since a panel's data holds 2,000 values. */
const mostKept = 300
/** Spans per request. More would push its hooks off the timeline. */
const mostSpans = 500

const noTables: readonly string[] = []

/** Records the cache reads of each profiled request. */
export class ReadLog {
  readonly #requests = new Attachment<RequestReads>()
  readonly #stale = new Attachment<Set<string>>()

  /** @returns a function that stops listening */
  listen({ events }: EntityCache): () => void {
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

  /** The tables whose records in the response may be stale. */
  staleTablesOf(recorder: Recorder): readonly string[] {
    const tables = this.#stale.get(recorder)
    return tables === undefined ? noTables : [...tables]
  }

  #readStale(table: string): void {
    const recorder = currentRecorder()
    if (recorder !== undefined) this.#stale.set(recorder, (this.#stale.get(recorder) ?? new Set()).add(table))
  }

  #read({ table, key: column }: EntityMetadata, key: string, outcome: ReadOutcome): void {
    const recorder = currentRecorder()
    if (recorder === undefined) return
    const value = isSensitiveField(column, key) ? masked : key
    const reads = this.#requests.get(recorder) ?? { first: [], hit: 0, miss: 0, shared: 0 }
    this.#requests.set(recorder, reads)
    if (reads.hit + reads.miss + reads.shared < mostSpans) {
      recorder.record({ kind: 'cache', name: `${answers[outcome]} ${table}`, detail: value }, 0)
    } else recorder.note(`Only the first ${mostSpans} cache reads are on the timeline.`)
    reads[outcome]++
    if (reads.first.length < mostKept) {
      reads.first.push({ table, column, value, outcome, start: toMicroseconds(recorder.now()) })
    }
  }
}
