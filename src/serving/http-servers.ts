import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { type Backlog, Connection } from './connection.ts'
import * as limits from './limits.ts'

/** In milliseconds. See limits.ts. */
interface Timeouts {
  keepAliveTimeout: number
  connectionTimeout: number
  connectionsCheckingInterval: number
}

/** In milliseconds. */
export interface HttpServersOptions extends Partial<Timeouts> {
  /** How long closing servers still accept connections. Default: only those that are already waiting. */
  lameDuck?: number
  /** How long a half-sent request may then take to arrive. Default, as for the timeouts: limits.ts. */
  patience?: number
}

/** The Node servers of one app, two if it listens on "localhost". Applies the limits and closes them together. */
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
  /** Connections and requests so far. */
  #arrivals = 0
  /** Start the requests that arrive just before the servers stop accepting connections. Undefined before that. */
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
    const { headersTimeout, maxConnections, maxHeaderSize, requestTimeout } = limits
    const { keepAliveTimeout, connectionTimeout, connectionsCheckingInterval } = this.#timeouts
    const server = createServer(
      {
        maxHeaderSize,
        headersTimeout,
        requestTimeout,
        keepAliveTimeout,
        connectionsCheckingInterval,
        // The host plugin answers requests without a Host.
        requireHostHeader: false,
      },
      this.#follow(listener),
    )
    server.maxConnections = maxConnections
    server.timeout = connectionTimeout
    // By default Node silently drops headers after the 1,000th. maxHeaderSize bounds their cost.
    server.maxHeadersCount = 0
    // Called by close(). Node's own would cut off responses that the client has not read yet.
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

  /** The same function for each server: a second one would make requests several times slower. */
  #follow(listener: RequestListener): RequestListener {
    this.#listener ??= this.#followed(listener)
    return this.#listener
  }

  #followed(listener: RequestListener): RequestListener {
    return (request, response) => {
      // Node still emits the other requests of a read after its connection was destroyed.
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

  /** Pauses reading for one turn of the event loop: memory of closed connections is only freed after it. */
  #breathe(): void {
    const connections = [...this.#connections.values()]
    for (const connection of connections) connection.pause()
    setTimeout(() => {
      // Newest first, or new connections starve.
      for (const connection of connections.reverse()) connection.goOn()
    })
  }

  /** Fastify's second server passes upgrades to the first, where they get no answer if nothing listens. */
  #ignoreUpgrades(server: Server): void {
    const [first] = this.#servers
    if (first?.listenerCount('upgrade') === 0) server.removeAllListeners('upgrade')
  }

  /**
   * Stops accepting connections after a beat of silence. Then closes each connection after its pending responses, or
   * after another beat if it is idle. Half-sent requests and clients that do not read get `patience`.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#awaitRest(
      () => this.#arrivals,
      () => this.#awaitBeat(),
      this.#lameDuck,
    )
    // A response would now close its connection, and the client would reconnect.
    const held: Array<() => void> = []
    this.#held = held
    await this.#awaitRest(
      () => this.#accepted,
      () => this.#awaitBeat(),
      this.#lameDuck,
    )
    // Closing a listening socket resets the connections in its backlog. Each turn accepts only one of them.
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
    // Node does not count connections that were handed over.
    await Promise.all([...this.#connections.keys()].map(closeOf))
    clearInterval(impatience)
  }

  /** Repeats the wait until the count stops changing, for at most `longest` milliseconds. */
  async #awaitRest(count: () => number, wait: () => Promise<void>, longest: number): Promise<void> {
    const end = performance.now() + longest
    let seen: number
    do {
      seen = count()
      await wait()
    } while (seen !== count() && performance.now() < end)
  }

  /** Resolves after the event loop has read everything that arrived during a beat. */
  async #awaitBeat(): Promise<void> {
    await sleep(this.#beat)
    await turn()
  }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    socket.once('close', () => {
      resolve()
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => {
      resolve()
    })
  })
}
