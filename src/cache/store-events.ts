import { EventEmitter } from 'node:events'
import type { EntityMetadata } from './segment.ts'

/** hit: the record was held. miss: it is being loaded for this. shared: it was being loaded already. */
export type ReadOutcome = 'hit' | 'miss' | 'shared'

interface Events {
  read: [metadata: EntityMetadata, key: string, outcome: ReadOutcome]
  /** What was read may have changed meanwhile: the database could not be asked. */
  stale: [metadata: EntityMetadata, key: string]
}

/** Tells who listens of each record that is asked for. */
export class StoreEvents extends EventEmitter<Events> {
  /** Whether anybody listens to reads, which are more than all else. */
  get areReadsFollowed(): boolean {
    return this.listenerCount('read') > 0
  }
}
