import { connect, type Socket } from 'node:net'
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { StartError } from '../errors/start-error.ts'
import type { QueryConnection } from './prepared-queries.ts'
import { type Answer, messagesFrom, sendMessage } from './query-server.ts'

/**
 * A pool whose queries the process runs that has the embedded database open. Each of its connections is one to the
 * socket of that process, a QueryServer.
 */
export class QueryClient implements PostgresPool {
  readonly #path: string

  /** @param path the socket */
  constructor(path: string) {
    this.#path = path
  }

  /**
   * Waits until the other process answers queries.
   * @returns whether it does; if not, it has closed the connection or ended
   */
  async isServed(): Promise<boolean> {
    const connection = await this.#open()
    connection?.release()
    return connection !== null
  }

  /** @throws {StartError} if the other process no longer answers */
  async connect(): Promise<RemoteConnection> {
    const connection = await this.#open()
    if (connection === null) throw lost()
    return connection
  }

  async end(): Promise<void> {}

  async #open(): Promise<RemoteConnection | null> {
    const socket = connect(this.#path)
    const messages = messagesFrom<Answer>(socket)
    const { done } = await messages.next()
    return done === true ? null : new RemoteConnection(socket, messages)
  }
}

class RemoteConnection implements PostgresPoolClient, QueryConnection {
  readonly #socket: Socket
  readonly #messages: AsyncIterator<Answer, undefined>

  constructor(socket: Socket, messages: AsyncIterator<Answer, undefined>) {
    this.#socket = socket
    this.#messages = messages
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  /** Required by Kysely's type for streaming, which is not used. */
  query(cursor: PostgresCursor<unknown> & pg.QueryConfig): never
  async query(query: string | pg.QueryConfig, values: readonly unknown[] = []): Promise<unknown> {
    sendMessage(this.#socket, typeof query === 'string' ? { text: query, values } : { values, ...query })
    const { value: answer, done } = await this.#messages.next()
    if (done === true) throw lost()
    if ('error' in answer) throw Object.assign(new pg.DatabaseError(answer.error.message, 0, 'error'), answer.error)
    const { fields, rows, ...rest } = answer
    const columns = fields.map(({ name, type }) => ({ name, parse: parserOf(type) }))
    return {
      ...rest,
      rows: rows.map(row => Object.fromEntries(columns.map(({ name, parse }, index) => [name, parse(row[index])]))),
    }
  }

  release(): void {
    this.#socket.destroy()
  }
}

/** Converts the text of a value as pg does. */
function parserOf(type: number): (text: string | null | undefined) => unknown {
  const parse = pg.types.getTypeParser(type) as (text: string) => unknown
  return text => (typeof text === 'string' ? parse(text) : null)
}

function lost(): StartError {
  return new StartError('The connection to the server is lost, and the command is not finished. Run it again.')
}
