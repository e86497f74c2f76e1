import { EventEmitter } from 'node:events'
import type { KyselyPlugin, LogEvent } from 'kysely'

/** Files to skip when looking for a query's caller in a stack. */
export const queryPlumbing = new Set([import.meta.filename])

interface Events {
  /** A query begins. Emitted synchronously in the caller's stack. Each query has its own id object. */
  asked: [queryId: object]
  /** A query has succeeded or failed. Kysely's duration does not include the wait for a connection. */
  ended: [account: LogEvent]
  /** A query has returned or changed this number of rows. */
  returned: [queryId: object, rows: number]
}

/** Emits an event for each step of a query, from a Kysely logger and a Kysely plugin. */
export class QueryEvents extends EventEmitter<Events> {
  readonly log = (account: LogEvent) => {
    this.emit('ended', account)
  }

  readonly plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      this.emit('asked', queryId)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      this.emit('returned', queryId, Number(result.numAffectedRows ?? result.rows.length))
      return result
    },
  }
}
