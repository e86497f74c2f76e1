import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, FastifyServerOptions, RawRequestDefaultExpression } from 'fastify'
import { sendError } from '../errors/send-error.ts'
import { forwardedReader } from '../http/forwarded.ts'
import { toOriginForm } from '../http/request.ts'
import { closeInOrder, type ClosingTimes } from './close-in-order.ts'
import * as limits from './limits.ts'
import { OpenConnections } from './open-connections.ts'

/** In milliseconds. See limits.ts. */
interface Timeouts {
  keepAliveTimeout: number
  connectionTimeout: number
  connectionsCheckingInterval: number
}

/** By default a closing server only accepts connections that are already waiting. For the others see limits.ts. */
export type HttpServersOptions = Partial<Timeouts & ClosingTimes>

/** Sets the limits of one app's Node servers, two if it listens on "localhost". */
export class HttpServers {
  readonly #timeouts: Omit<Timeouts, 'connectionTimeout'>
  readonly #closingTimes: ClosingTimes
  readonly #servers = new Set<Server>()
  readonly #connections = new OpenConnections()
  readonly #checking: NodeJS.Timeout
  #isClosing = false

  constructor({ lameDuck = 0, ...options }: HttpServersOptions = {}) {
    const { patience, connectionTimeout, ...timeouts } = { ...limits, ...options }
    this.#timeouts = timeouts
    this.#closingTimes = { lameDuck, patience }
    // Closes connections that are silent during or after a request. Node would start a timer for each.
    this.#checking = setInterval(() => {
      for (const connection of this.#connections.all()) connection.limitSilence(connectionTimeout)
    }, timeouts.connectionsCheckingInterval).unref()
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Fastify's serverFactory. */
  readonly create = (listener: RequestListener): Server => {
    const { headersTimeout, maxConnections, maxHeaderSize, requestTimeout } = limits
    const { keepAliveTimeout, connectionsCheckingInterval } = this.#timeouts
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
      this.#connections.follow(listener),
    )
    server.maxConnections = maxConnections
    // By default Node silently drops headers after the 1,000th. maxHeaderSize bounds their cost.
    server.maxHeadersCount = 0
    // Called by close(). Node's own would cut off responses that the client has not read yet.
    server.closeIdleConnections = () => {}
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket, keepAliveTimeout)
    })
    server.on('connect', this.#connections.refuseTunnel)
    server.on('clientError', (error: Error, socket: Socket) => {
      this.#connections.get(socket)?.refuse(error)
    })
    server.once('listening', () => {
      this.#ignoreUpgrades(server)
    })
    this.#servers.add(server)
    return server
  }

  /** Closes the servers without losing a request. */
  async close(): Promise<void> {
    this.#isClosing = true
    await closeInOrder(this.#servers, this.#connections, this.#closingTimes)
    clearInterval(this.#checking)
  }

  /** Fastify's second server passes upgrades to the first, where they get no answer if nothing listens. */
  #ignoreUpgrades(server: Server): void {
    const [first] = this.#servers
    if (first?.listenerCount('upgrade') === 0) server.removeAllListeners('upgrade')
  }
}

interface ServerOptions {
  logger: NonNullable<FastifyServerOptions['logger']>
  /** The addresses of proxies whose forwarded headers count. */
  trustProxy: string[]
  servers: HttpServers
}

/** Fastify's options for an app that these servers serve. */
export function serverOptions({ logger, trustProxy, servers }: ServerOptions) {
  return {
    logger,
    ...readingOptions(trustProxy),
    bodyLimit: limits.bodyLimit,
    serverFactory: servers.create,
    // HttpServers handles these errors. Fastify would call this for its first server only.
    clientErrorHandler: () => {},
    // Requests that arrive while closing are answered, and their answer closes the connection.
    return503OnClosing: false,
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      sendError(error, request, reply.header('vary', 'Accept'))
    },
  }
}

/** The options for reading a request's target and forwarded headers. */
function readingOptions(trustProxy: string[]) {
  if (trustProxy.length === 0) return { rewriteUrl: toOriginForm }
  const readForwarded = forwardedReader(trustProxy)
  return {
    trustProxy,
    /** Reads forwarded headers here, because Fastify logs request.ip before it runs any hook. */
    rewriteUrl(raw: RawRequestDefaultExpression): string {
      readForwarded(raw)
      return toOriginForm(raw)
    },
  }
}
