import { EventEmitter } from 'node:events'
import type { EntityMetadata } from './entity-segment.ts'

/** hit: the record was cached. miss: this read loads it. shared: another read was already loading it. */
export type ReadOutcome = 'hit' | 'miss' | 'shared'

interface Events {
  read: [metadata: EntityMetadata, key: string, outcome: ReadOutcome]
  /** A record was served that may be out of date, because the database did not answer. */
  stale: [metadata: EntityMetadata, key: string]
}

/** Emits an event for each record that is read. */
export class EntityCacheEvents extends EventEmitter<Events> {
  /** Whether "read" has listeners. Reads are frequent, so they are only emitted if it has. */
  get areReadsFollowed(): boolean {
    return this.listenerCount('read') > 0
  }
}
