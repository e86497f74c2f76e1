import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../errors/start-error.ts'
import type { ConnectionPool } from './prepared-queries.ts'

/** In milliseconds, between two queries of a command. Meanwhile the server itself cannot use the database. */
const longestPause = 30_000

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
    const pause = this.#longestPause
    const client = await this.#pool.connect()
    try {
      socket.setTimeout(pause, () => socket.destroy())
      const session = this.#connect().on('error', ({ cause }) => {
        socket.end(fatalError(reasonOf(cause)), () => socket.destroy())
      })
      // At the end, the socket stays open for now.
      const chunks = socket.iterator({ destroyOnReturn: false })
      await pipeline(chunks, wholeMessages, session, timed, socket, { end: false })
    } finally {
      client.release(true)
      // Listens again before the command ends, so that its changes show in the next request. Nothing of the command
      // stays, such as a transaction or a setting: each connection begins with DISCARD ALL.
      const next = await this.#pool.connect()
      next.release()
    }

    /** Cuts what a command sends into PostgreSQL's messages, since PGlite takes only whole ones. */
    async function* wholeMessages(chunks: AsyncIterable<Buffer>) {
      let rest: Buffer = Buffer.alloc(0)
      // Only the first message has no type before its length.
      let lengthAt = 0
      for await (const chunk of chunks) {
        rest = Buffer.concat([rest, chunk])
        while (rest.length >= lengthAt + 4) {
          const end = lengthAt + rest.readUInt32BE(lengthAt)
          if (rest.length < end) break
          socket.setTimeout(0)
          yield rest.subarray(0, end)
          rest = rest.subarray(end)
          lengthAt = 1
        }
      }
    }

    async function* timed(answers: AsyncIterable<Buffer>) {
      for await (const answer of answers) {
        // "Z" begins the last message of an answer, which has six bytes: ReadyForQuery.
        if (answer.at(-6) === 'Z'.charCodeAt(0)) socket.setTimeout(pause)
        yield answer
      }
    }
  }
}

/** PostgreSQL's message that a server has died. */
function fatalError(reason: string): Buffer {
  const fields = `SFATAL\0C57P02\0M${reason}\0\0`
  const head = Buffer.from('E....')
  head.writeUInt32BE(4 + Buffer.byteLength(fields), 1)
  return Buffer.concat([head, Buffer.from(fields)])
}
