import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Backlog, Connection } from './connection.ts'
import { mayStart } from './turns.ts'

/** Requests that could not be started in time. */
const late = new WeakSet<IncomingMessage>()

/** Whether a request has waited for its turn for so long that it should be refused. */
export function isLate(request: IncomingMessage): boolean {
  return late.has(request)
}

/** Decides when each request of an app's open connections starts. */
export class OpenConnections {
  readonly #connections = new Map<Socket, Connection>()
  readonly #backlog: Backlog = {
    size: 0,
    overflow: () => {
      this.#pauseForOneTurn()
    },
  }
  #accepted = 0
  #requests = 0
  /** Start the requests that arrive while all are held. Undefined otherwise. */
  #held: Array<() => void> | undefined
  #listener: RequestListener | undefined

  /** Connections so far. */
  get accepted(): number {
    return this.#accepted
  }

  /** Connections and requests so far. */
  get arrivals(): number {
    return this.#accepted + this.#requests
  }

  /** The same function for each server: a second one would make requests slower. */
  follow(listener: RequestListener): RequestListener {
    this.#listener ??= this.#followed(listener)
    return this.#listener
  }

  /** Answers a CONNECT like any other request, and closes its connection. Node makes no response for it. */
  readonly refuseTunnel = (request: IncomingMessage, socket: Socket): void => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.once('finish', () => {
      socket.destroySoon()
    })
    this.#connections.get(socket)?.takeOver(response)
    this.#listener?.(request, response)
  }

  add(socket: Socket, keepAliveTimeout: number): void {
    this.#accepted++
    this.#connections.set(socket, new Connection(socket, this.#backlog, keepAliveTimeout))
    socket.once('close', () => {
      this.#connections.delete(socket)
    })
  }

  get(socket: Socket): Connection | undefined {
    return this.#connections.get(socket)
  }

  all(): Iterable<Connection> {
    return this.#connections.values()
  }

  /** Holds the requests that arrive from now on. @returns a function that starts them */
  hold(): () => void {
    const held: Array<() => void> = []
    this.#held = held
    return () => {
      this.#held = undefined
      for (const begin of held) begin()
    }
  }

  /** Resolves once all connections that are open now have closed. */
  async closed(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map(closeOf))
  }

  #followed(listener: RequestListener): RequestListener {
    return (request, response) => {
      // Node still emits the other requests of a read after its connection was destroyed.
      if (request.socket.destroyed) return
      this.#requests++
      const connection = this.#connections.get(request.socket)
      connection?.add(response)
      if (this.#held !== undefined) {
        this.#held.push(() => {
          listener(request, response)
        })
      } else if (connection !== undefined && (connection.isOverfull || !mayStart())) {
        connection.hold(isLate => {
          if (isLate) late.add(request)
          listener(request, response)
        })
      } else listener(request, response)
    }
  }

  /** Pauses reading for one turn of the event loop: memory of closed connections is only freed after it. */
  #pauseForOneTurn(): void {
    const connections = [...this.#connections.values()]
    for (const connection of connections) connection.pause()
    setTimeout(() => {
      // Newest first, or new connections starve.
      for (const connection of connections.reverse()) connection.resume()
    })
  }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    socket.once('close', () => {
      resolve()
    })
  })
}
