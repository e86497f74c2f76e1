import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../errors/start-error.ts'
import { makeMessage, wholeMessages } from './client-messages.ts'
import type { ConnectionPool } from './guarded-pool.ts'

/**
 * In milliseconds, for a command to send its next message, and to read an answer. Meanwhile the server itself cannot
 * use the database.
 */
const longestPause = 30_000

const serverHasDied = '57P02'
const protocolViolation = '08P01'

/**
 * Passes the queries of commands on to an embedded database, in PostgreSQL's own protocol. Only processes of the same
 * user can open its socket. Each connection has the database to itself until it closes, in order of arrival.
 */
export class QueryServer {
  readonly #pool: ConnectionPool
  readonly #connect: () => Duplex
  readonly #longestPause: number
  readonly #sockets = new Set<Socket>()
  #last = Promise.resolve()
  #isClosing = false

  /**
   * @param pool of the server itself, with one connection
   * @param connect opens another connection, to be used only while nobody uses the pool's
   */
  constructor(pool: ConnectionPool, connect: () => Duplex, pause = longestPause) {
    this.#pool = pool
    this.#connect = connect
    this.#longestPause = pause
  }

  readonly serve = (socket: Socket): void => {
    if (this.#isClosing) {
      socket.destroy()
      return
    }
    // Closed only after the turn.
    socket.allowHalfOpen = true
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.once('readable', () => {
      // Whatever goes wrong ends the connection.
      const turn = this.#last.then(() => this.#pass(socket)).catch(() => {})
      this.#last = turn.finally(() => socket.destroy())
    })
  }

  /** Closes all connections. Resolves once none uses the database. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const socket of this.#sockets) socket.destroy()
    await this.#last
  }

  async #pass(socket: Socket): Promise<void> {
    const limit = () => setTimeout(() => socket.destroy(), this.#longestPause)
    const fail = (code: string, reason: string) => {
      const message = makeMessage('E', `SFATAL\0C${code}\0M${reason}\0\0`)
      socket.end(message, () => socket.destroy())
    }
    const client = await this.#pool.connect()
    try {
      const session = this.#connect().on('error', ({ cause }) => fail(serverHasDied, reasonOf(cause)))
      // The socket is closed after the turn, not here.
      const chunks = socket.iterator({ destroyOnReturn: false })
      await pipeline(chunks, timelyMessages, session, timelyRead, socket, { end: false })
    } finally {
      client.release(true)
      // Listens again before the command ends, so that its changes show in the next request. Nothing of the command
      // stays, such as a transaction or a setting: each connection begins with DISCARD ALL.
      const next = await this.#pool.connect()
      next.release()
    }

    /** Cuts off a command that does not send its next message in time. */
    async function* timelyMessages(chunks: AsyncIterable<Buffer>) {
      let timer = limit()
      try {
        for await (const message of wholeMessages(chunks, reason => fail(protocolViolation, reason))) {
          clearTimeout(timer)
          // Until the database has processed it.
          yield message
          timer = limit()
        }
      } finally {
        clearTimeout(timer)
      }
    }

    /** Cuts off a command that does not read an answer in time. */
    async function* timelyRead(answers: AsyncIterable<Buffer>) {
      for await (const answer of answers) {
        const timer = limit()
        try {
          yield answer
        } finally {
          clearTimeout(timer)
        }
      }
    }
  }
}
