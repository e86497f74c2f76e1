import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Boundary } from '../base/boundary.ts'

/** Called for each request as early as possible, and for some requests more than once. */
export type Arrive = (raw: IncomingMessage, response: ServerResponse) => void

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
  return (
    typeof message === 'object' &&
    message !== null &&
    'request' in message &&
    'response' in message &&
    'server' in message
  )
}
