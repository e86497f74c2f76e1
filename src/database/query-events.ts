import { EventEmitter } from 'node:events'
import type { KyselyPlugin, LogEvent } from 'kysely'

/** Files that stand between a query and whoever asks for it. */
export const queryPlumbing = new Set([import.meta.filename])

interface Events {
  /** A query is asked for, in the stack of whoever asks. The id is an object of its own for each query. */
  asked: [queryId: object]
  /** A query is over: Kysely's account of it, whose duration begins once there is a connection. */
  ended: [account: LogEvent]
  /** A query has brought back, or changed, so many rows. */
  returned: [queryId: object, rows: number]
}

/** Tells who listens of each query, by Kysely's own means: its logger, and a plugin. */
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
