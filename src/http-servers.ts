import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import * as limits from './limits.ts'
import { answerParserError } from './parser-errors.ts'

/** Node's servers of one app, of which there are two where it listens on "localhost": made within limits, and closed together. */
export class HttpServers {
  readonly #patience: number
  readonly #servers = new Set<Server>()
  readonly #refused = new WeakSet<Socket>()
  /** Of each connection the answers that are under way, in their order; or the last one, which is sent. */
  readonly #answers = new Map<Socket, ServerResponse[]>()
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
    server.on('connection', (socket: Socket) => { this.#answersOn(socket) })
    this.#servers.add(server)
    return server
  }

  /** The same for each server. A second listener instead would cost a request several times as much. */
  #follow (listener: RequestListener): RequestListener {
    this.#listener ??= (request, response) => {
      const answers = this.#answersOn(request.socket)
      if (answers.at(-1)?.writableFinished === true) answers.length = 0
      answers.push(response)
      listener(request, response)
    }
    return this.#listener
  }

  #answersOn (socket: Socket): ServerResponse[] {
    const known = this.#answers.get(socket)
    if (known !== undefined) return known
    const answers: ServerResponse[] = []
    this.#answers.set(socket, answers)
    socket.once('close', () => {
      this.#answers.delete(socket)
      abandon(answers)
    })
    return answers
  }

  /** Answers bytes that are no request, once what came before them is answered. */
  #refuse (error: Error, socket: Socket): void {
    if (this.#refused.has(socket)) return
    this.#refused.add(socket)
    const answer = this.#answers.get(socket)?.at(-1)
    if (answer === undefined || answer.writableFinished) answerParserError(error, socket)
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
    for (const [socket, answers] of this.#answers) {
      const answer = answers.at(-1)
      if (socket.bytesRead === 0) socket.destroy()
      else if (answer?.headersSent === false) answer.setHeader('connection', 'close')
      else answer?.once('finish', () => { socket.destroySoon() })
    }
    const impatience = setTimeout(() => { for (const [socket, answers] of this.#answers) if (!isUnderWay(answers.at(-1))) socket.destroy() }, this.#patience)
    await Promise.all(closed)
    clearTimeout(impatience)
  }
}

function closeServer (server: Server): Promise<void> {
  return new Promise(resolve => { server.close(() => { resolve() }) })
}

/** Whether a request is complete, and its answer is not. */
function isUnderWay (answer: ServerResponse | undefined): boolean {
  return answer !== undefined && answer.req.complete && !answer.writableFinished
}

/** Node tells only the answer whose turn it is that the client has left: those behind it would keep open what they are made of, or will be. */
function abandon (answers: readonly ServerResponse[]): void {
  for (const answer of answers) {
    if (answer.socket !== null || answer.writableFinished) continue
    answer.destroy().emit('close')
    answer.on('pipe', source => { source.destroy() })
  }
}
