import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import * as limits from './limits.ts'
import { answerParserError } from './parser-errors.ts'

/** Node's servers of one app, of which there are two where it listens on "localhost": made within limits, and closed together. */
export class HttpServers {
  readonly #patience: number
  readonly #servers = new Set<Server>()
  readonly #refused = new WeakSet<Socket>()
  /** Of each connection the answer that was begun last, which is the last to be sent; null: none was. */
  readonly #answers = new Map<Socket, ServerResponse | null>()
  #listener: RequestListener | undefined
  #isClosing = false

  /** @param patience milliseconds that a half-sent request may take to be complete once they close */
  constructor (patience = limits.patience) {
    this.#patience = patience
  }

  get isClosing (): boolean {
    return this.#isClosing
  }

  /** Fastify's serverFactory. */
  readonly create = (listener: RequestListener): Server => {
    // A request without a Host is answered as any other invalid one.
    const { connectionsCheckingInterval, connectionTimeout, headersTimeout, keepAliveTimeout, maxConnections, maxHeaderSize, requestTimeout } = limits
    const server = createServer({ maxHeaderSize, headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval, requireHostHeader: false }, this.#follow(listener))
    server.maxConnections = maxConnections
    server.setTimeout(connectionTimeout)
    server.on('clientError', (error: Error, socket: Socket) => { this.#refuse(error, socket) })
    server.on('connection', (socket: Socket) => {
      this.#answers.set(socket, null)
      socket.once('close', () => { this.#answers.delete(socket) })
    })
    this.#servers.add(server)
    return server
  }

  /** The same for each server. A second listener instead would cost a request several times as much. */
  #follow (listener: RequestListener): RequestListener {
    this.#listener ??= (request, response) => {
      this.#answers.set(request.socket, response)
      listener(request, response)
    }
    return this.#listener
  }

  /** Answers bytes that are no request, once what came before them is answered. */
  #refuse (error: Error, socket: Socket): void {
    if (this.#refused.has(socket)) return
    this.#refused.add(socket)
    const answer = this.#answers.get(socket) ?? null
    if (answer === null || answer.writableFinished) answerParserError(error, socket)
    else if (answer.req.complete) answer.once('finish', () => { answerParserError(error, socket) })
    else if (answer.headersSent) socket.destroy()
    else answerParserError(error, socket)
  }

  /**
   * Accepts nothing more, and ends every connection with the answer that is under way on it; one with half a request after
   * some patience, since Node looks at no timeout of a closed server, and would wait for it for ever.
   */
  async close (): Promise<void> {
    this.#isClosing = true
    const closed = [...this.#servers].map(closeServer)
    for (const [socket, answer] of this.#answers) {
      if (socket.bytesRead === 0) socket.destroy()
      else if (answer !== null && !answer.headersSent) answer.setHeader('connection', 'close')
    }
    const impatience = setTimeout(() => { for (const [socket, answer] of this.#answers) if (!isUnderWay(answer)) socket.destroy() }, this.#patience)
    await Promise.all(closed)
    clearTimeout(impatience)
  }
}

function closeServer (server: Server): Promise<void> {
  // An answer whose head is sent already cannot say any more that its connection is not kept.
  server.keepAliveTimeout = 1
  return new Promise(resolve => { server.close(() => { resolve() }) })
}

/** Whether a request is complete, and its answer is not. */
function isUnderWay (answer: ServerResponse | null): boolean {
  return answer !== null && answer.req.complete && !answer.writableFinished
}
