import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { isObject } from '../foreign-value.ts'
import type { Boundary } from '../guard.ts'

/** Called for each request as early as possible, and for some requests more than once. */
type Arrive = (raw: IncomingMessage, response: ServerResponse) => void

/** Stops watching a server for its only application so far. */
const stops = new WeakMap<object, () => void>()

/**
 * Calls `arrive` for every request before Fastify handles it, even if no hook will run (a URL that cannot be decoded).
 * For "localhost", Fastify listens with a second, private server, whose requests Node's diagnostics channel reports.
 * Injected requests pass neither: the profiler's hooks report those. They also report the requests to a server that
 * several applications share, since only the application that handles a request should profile it.
 */
export function watchArrivals(app: FastifyInstance, boundary: Boundary, arrive: Arrive): void {
  const { server } = app
  const onRequest = (raw: IncomingMessage, response: ServerResponse) => arrive(raw, response)
  const stopOther = stops.get(server)
  if (stopOther === undefined) {
    server.prependListener('request', onRequest)
    stops.set(server, () => server.off('request', onRequest))
  } else stopOther()

  const requests = channel('http.server.request.start')
  const siblings = new WeakMap<object, boolean>()
  const onAnyRequest = (message: unknown) => {
    // An error thrown in a subscriber would end the process.
    boundary.guard(() => tellOfSibling(message), undefined)
  }
  function tellOfSibling(message: unknown): void {
    if (!isRequestMessage(message) || message.server === server) return
    let sibling = siblings.get(message.server)
    if (sibling === undefined) {
      // Fastify's second server has the same listener.
      const own = server.listeners('request').filter(listener => listener !== onRequest)
      sibling = message.server.listeners('request').some(listener => own.includes(listener))
      siblings.set(message.server, sibling)
    }
    if (sibling) arrive(message.request, message.response)
  }
  requests.subscribe(onAnyRequest)
  app.addHook('onClose', async function stopWatching() {
    requests.unsubscribe(onAnyRequest)
  })
}

interface RequestMessage {
  request: IncomingMessage
  response: ServerResponse
  server: FastifyInstance['server']
}

function isRequestMessage(message: unknown): message is RequestMessage {
  return isObject(message) && 'request' in message && 'response' in message && 'server' in message
}

/** Addresses under which "localhost" reaches the server. */
const local = ['::', '::1', '0.0.0.0', '127.0.0.1']

/**
 * Calls back when the application listens.
 * @param listens gets the origin under which its own machine reaches it, or '' and the path of a socket
 */
export function whenListening(
  { server }: FastifyInstance,
  listens: (origin: string, socket: string | null) => void,
): void {
  server.once('listening', () => {
    const address = server.address()
    if (typeof address === 'string') listens('', address)
    else if (address !== null) listens(originOf(server, address), null)
  })
}

/** The origin under which a server is reached from its own machine. */
function originOf(server: FastifyInstance['server'], { address, family, port }: AddressInfo): string {
  const protocol = server instanceof TlsServer ? 'https' : 'http'
  const host = local.includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
  return `${protocol}://${host}:${port}`
}
