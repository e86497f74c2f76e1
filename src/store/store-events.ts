import { EventEmitter } from 'node:events'
import type { EntityMetadata } from './segment.ts'

/** hit: the record was held. miss: it is being loaded for this. shared: it was being loaded already. */
export type ReadOutcome = 'hit' | 'miss' | 'shared'

interface Events {
  /** Rows of a table were changed: those under one key, or under any (null). */
  change: [table: string, key: string | null]
  read: [metadata: EntityMetadata, key: string, outcome: ReadOutcome]
  /** What was read may have changed meanwhile: the database could not be asked. */
  stale: [metadata: EntityMetadata, key: string]
}

/** Tells who listens of each record that is asked for, and of each change. */
export class StoreEvents extends EventEmitter<Events> {
  /** Whether anybody listens to reads, which are more than all else. */
  get areReadsFollowed (): boolean {
    return this.listenerCount('read') > 0
  }
}
