import type { EntityMetadata } from '../../src/store/segment.ts'
import type { ReadOutcome, StoreEvents } from '../../src/store/store-events.ts'
import { currentRecorder, type Recorder } from './profiler/index.ts'

/** One read of the store. */
export interface ReadRecord {
  /** The table whose records were read, and the column that they are read by. */
  table: string
  column: string
  key: string
  outcome: ReadOutcome
  /** Milliseconds since the request came in. */
  at: number
}

/** The reads of one request: the first of them in full, and how many there were. */
export interface RequestReads {
  first: ReadRecord[]
  count: number
}

/** How many reads of one request are kept. */
const mostKept = 500

/** Hears of every read of the store while a request is profiled, and keeps it under the request. */
export class StoreLog {
  readonly #requests = new WeakMap<Recorder, RequestReads>()

  /** @returns the function that stops it */
  listen (events: StoreEvents): () => void {
    const read = (metadata: EntityMetadata, key: string, outcome: ReadOutcome) => this.#read(metadata, key, outcome)
    events.on('read', read)
    return () => { events.off('read', read) }
  }

  of (recorder: Recorder): RequestReads {
    return this.#requests.get(recorder) ?? { first: [], count: 0 }
  }

  #read ({ table, key: column }: EntityMetadata, key: string, outcome: ReadOutcome): void {
    const recorder = currentRecorder()
    if (recorder === undefined) return
    recorder.record({ kind: 'cache', name: `${outcome} ${table}`, detail: key }, 0)
    const reads = this.of(recorder)
    if (reads.count++ < mostKept) reads.first.push({ table, column, key, outcome, at: recorder.now() })
    this.#requests.set(recorder, reads)
  }
}
