import type { Socket } from 'node:net'
import type pg from 'pg'
import { reasonOf } from '../errors/start-error.ts'
import { linesOf } from '../lines.ts'
import { causeOf } from './failures.ts'
import type { ConnectionPool, QueryConnection } from './prepared-queries.ts'

/** A message of a command. */
interface Question {
  text: string
  values: unknown[]
}

/** The answer to a question. */
export type Answer =
  | { command: string; rowCount: number | null; fields: { name: string; type: number }[]; rows: (string | null)[][] }
  /** The properties of pg's DatabaseError. */
  | { error: { message: string } }

/** The first message of a server that answers questions. */
export const greeting = { portico: 'ready' }

/** Bounds the memory that waiting commands cost. */
const mostConnections = 1000
/** In milliseconds, between two queries of a command. Meanwhile the server itself cannot use the database. */
const longestPause = 30_000

/** Values arrive as text, and the command converts them. */
const types = { getTypeParser: () => (text: string) => text }

export interface QueryServerOptions {
  longestPause?: number
  mostConnections?: number
}

/**
 * Runs the queries of commands on the connection of an embedded database. Only processes of the same user can open its
 * socket. Each connection has the database to itself from its first query until it closes, in order of arrival.
 */
export class QueryServer {
  readonly #pool: ConnectionPool
  readonly #options: Required<QueryServerOptions>
  readonly #sockets = new Set<Socket>()
  #last: Promise<unknown> = Promise.resolve()
  #isClosing = false

  constructor(pool: ConnectionPool, options: QueryServerOptions = {}) {
    this.#pool = pool
    this.#options = { longestPause, mostConnections, ...options }
  }

  readonly serve = (socket: Socket): void => {
    if (this.#isClosing || this.#sockets.size >= this.#options.mostConnections) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    // Whatever goes wrong ends the connection.
    void this.#converse(socket)
      .catch(() => {})
      .finally(() => {
        this.#sockets.delete(socket)
        socket.destroy()
      })
  }

  /** Closes all connections. Resolves once none uses the database. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const socket of this.#sockets) socket.destroy()
    await this.#last
  }

  async #converse(socket: Socket): Promise<void> {
    socket.on('timeout', () => socket.destroy()).setTimeout(this.#options.longestPause)
    sendMessage(socket, greeting)
    const messages = messagesFrom<unknown>(socket)
    const { value: first } = await messages.next()
    if (!isQuestion(first)) return
    socket.setTimeout(0)
    const next = messages.next()
    let hasEnded = false
    void next.then(({ done }) => {
      hasEnded = done === true
    })
    const turn = this.#last.then(async () => {
      // A command that was interrupted while it waited changes nothing.
      if (!hasEnded) await this.#answerAll(socket, first, next, messages)
    })
    this.#last = turn.catch(() => {})
    await turn
  }

  async #answerAll(
    socket: Socket,
    first: Question,
    second: Promise<IteratorResult<unknown>>,
    others: AsyncIterator<unknown>,
  ): Promise<void> {
    const client = await this.#pool.connect()
    try {
      let message: unknown = first
      for (let next = second; isQuestion(message); next = others.next()) {
        socket.setTimeout(0)
        sendMessage(socket, await answer(client, message))
        socket.setTimeout(this.#options.longestPause)
        message = (await next).value
      }
    } finally {
      // Nothing of the command stays, such as a transaction or a setting: the next connection begins with DISCARD ALL.
      client.release(true)
    }
  }
}

function isQuestion(message: unknown): message is Question {
  if (typeof message !== 'object' || message === null) return false
  const { text, values }: { text?: unknown; values?: unknown } = message
  return typeof text === 'string' && Array.isArray(values)
}

/** PGlite does not survive COPY FROM STDIN. Commands need none. */
const copy = /\bcopy\b/i

async function answer(client: QueryConnection, { text, values }: Question): Promise<Answer> {
  try {
    if (copy.test(text)) throw new Error('COPY is not possible beside a server.')
    const query: pg.QueryArrayConfig = { text, values, rowMode: 'array', types }
    const { command, rowCount, fields, rows } = await client.query<pg.QueryResultRow & (string | null)[]>(query)
    return { command, rowCount, fields: fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID })), rows }
  } catch (error) {
    const cause = causeOf(error)
    return { error: Object.assign({}, cause, { message: reasonOf(cause) }) }
  }
}

/** In bytes. Longer than any query of a command: an import inserts 5,000 records at once. */
const longestMessage = 2 ** 28

/**
 * Reads messages from a socket, one JSON value a line. Ends without an error with the connection, however that ends, or
 * at a line that is too long or not JSON.
 */
export async function* messagesFrom<Message>(
  socket: Socket,
  longest = longestMessage,
): AsyncGenerator<Message, undefined> {
  try {
    for await (const { bytes, isWhole } of linesOf(socket, longest)) {
      if (!isWhole) return
      yield JSON.parse(bytes.toString())
    }
  } catch {
    // The connection is broken, or the line is not JSON.
  }
}

/** Sends a message as a line of JSON. */
export function sendMessage(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`)
}
