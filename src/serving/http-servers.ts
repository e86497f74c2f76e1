import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { type Backlog, Connection } from './connection.ts'
import * as limits from './limits.ts'

/** In milliseconds, as limits.ts says of each. */
interface Timeouts {
  keepAliveTimeout: number
  connectionTimeout: number
  connectionsCheckingInterval: number
}

/** In milliseconds. */
export interface HttpServersOptions extends Partial<Timeouts> {
  /** For how long whoever still connects is accepted once they close; default: only who has connected by then. */
  lameDuck?: number
  /** What a half-sent request may take to be complete after that. Default: as of all others, that of limits.ts. */
  patience?: number
}

/** Node's servers of one app, of which there are two where it listens on "localhost": made within limits, and closed together. */
export class HttpServers {
  readonly #lameDuck: number
  readonly #beat: number
  readonly #patience: number
  readonly #timeouts: Timeouts
  readonly #servers = new Set<Server>()
  readonly #connections = new Map<Socket, Connection>()
  readonly #backlog: Backlog = {
    size: 0,
    overflow: () => {
      this.#breathe()
    },
  }
  #accepted = 0
  /** How many connections and requests there have been. */
  #arrivals = 0
  /** Requests that came in the last moment in which connections are accepted, and have not begun. */
  #held: Array<() => void> | undefined
  #listener: RequestListener | undefined
  #isClosing = false

  constructor({ lameDuck = 0, ...options }: HttpServersOptions = {}) {
    const { patience, ...timeouts } = { ...limits, ...options }
    this.#lameDuck = lameDuck
    this.#beat = Math.min(limits.beat, lameDuck)
    this.#patience = patience
    this.#timeouts = timeouts
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Fastify's serverFactory. */
  readonly create = (listener: RequestListener): Server => {
    // A request without a Host is answered as any other invalid one.
    const { headersTimeout, maxConnections, maxHeaderSize, requestTimeout } = limits
    const { keepAliveTimeout, connectionTimeout, connectionsCheckingInterval } = this.#timeouts
    const server = createServer(
      {
        maxHeaderSize,
        headersTimeout,
        requestTimeout,
        keepAliveTimeout,
        connectionsCheckingInterval,
        requireHostHeader: false,
      },
      this.#follow(listener),
    )
    server.maxConnections = maxConnections
    server.timeout = connectionTimeout
    // Node drops all headers after the 1,000th without a word. Those that maxHeaderSize admits cost less a byte than so many.
    server.maxHeadersCount = 0
    // Node's own, which its close calls, would cut off an answer that the client has not read yet.
    server.closeIdleConnections = () => {}
    server.on('connection', (socket: Socket) => {
      this.#welcome(socket)
    })
    server.on('clientError', (error: Error, socket: Socket) => {
      this.#connections.get(socket)?.refuse(error)
    })
    server.once('listening', () => {
      this.#ignoreUpgrades(server)
    })
    this.#servers.add(server)
    return server
  }

  /** The same for each server. A second listener instead would cost a request several times as much. */
  #follow(listener: RequestListener): RequestListener {
    this.#listener ??= this.#followed(listener)
    return this.#listener
  }

  #followed(listener: RequestListener): RequestListener {
    return (request, response) => {
      // Of a connection that was ended amid a read Node goes on to tell all that is in it.
      if (request.socket.destroyed) return
      this.#arrivals++
      const connection = this.#connections.get(request.socket)
      connection?.add(response)
      if (this.#held !== undefined) {
        this.#held.push(() => {
          listener(request, response)
        })
      } else if (connection?.isOverfull === true) {
        connection.hold(() => {
          listener(request, response)
        })
      } else listener(request, response)
    }
  }

  #welcome(socket: Socket): void {
    this.#arrivals++
    this.#accepted++
    this.#connections.set(socket, new Connection(socket, this.#backlog))
    socket.once('close', () => {
      this.#connections.delete(socket)
    })
  }

  /** Reads no more in this turn of the event loop: what is ended in it is let go of only after it. */
  #breathe(): void {
    const connections = [...this.#connections.values()]
    for (const connection of connections) connection.pause()
    setTimeout(() => {
      // Newest first, or new connections starve.
      for (const connection of connections.reverse()) connection.goOn()
    })
  }

  /** Fastify has its second server hand them to the first, where nobody may listen: they would stay without an answer. */
  #ignoreUpgrades(server: Server): void {
    const [first] = this.#servers
    if (first?.listenerCount('upgrade') === 0) server.removeAllListeners('upgrade')
  }

  /**
   * Accepts nothing more, once nothing has come for a beat, and ends every connection with the answer that is under way on
   * it, or when nothing comes for a beat; one with half a request, or a client that does not read, after some patience.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#awaitRest(
      () => this.#arrivals,
      () => this.#awaitBeat(),
      this.#lameDuck,
    )
    // An answer now would end its connection and have its client connect anew.
    const held: Array<() => void> = []
    this.#held = held
    await this.#awaitRest(
      () => this.#accepted,
      () => this.#awaitBeat(),
      this.#lameDuck,
    )
    // A listening socket that closes resets whoever waits in its backlog, of whom each turn accepts only one.
    await this.#awaitRest(() => this.#accepted, turn, this.#patience)
    const closed = [...this.#servers].map(closeServer)
    this.#held = undefined
    for (const begin of held) begin()
    for (const connection of this.#connections.values()) connection.end()
    await this.#awaitBeat()
    for (const connection of this.#connections.values()) connection.endIdle()
    const impatience = setInterval(() => {
      for (const connection of this.#connections.values()) connection.giveUp()
    }, this.#patience)
    await Promise.all(closed)
    clearInterval(impatience)
  }

  /** Waits, again and again, until a wait leaves the count as it was, or the milliseconds are over. */
  async #awaitRest(count: () => number, wait: () => Promise<void>, longest: number): Promise<void> {
    const end = performance.now() + longest
    let seen: number
    do {
      seen = count()
      await wait()
    } while (seen !== count() && performance.now() < end)
  }

  /** Ends right after the event loop has read all that there was to read. */
  async #awaitBeat(): Promise<void> {
    await sleep(this.#beat)
    await turn()
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => {
      resolve()
    })
  })
}
