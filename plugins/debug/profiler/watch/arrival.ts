import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Boundary } from '../base/boundary.ts'

/** Called for each request at the earliest moment there is, for some requests more than once. */
export type Arrive = (raw: IncomingMessage, response: ServerResponse) => void

/**
 * Tells of every request before Fastify sees it: those that never reach a hook (a URL that cannot be decoded)
 * too. A server that listens on "localhost" has a second one for the other address, which Fastify keeps to
 * itself; Node's diagnostics channel knows it. What is injected is in neither: hooks tell of it.
 */
export function watchArrivals(app: FastifyInstance, boundary: Boundary, arrive: Arrive): void {
  const { server } = app
  const onRequest = (raw: IncomingMessage, response: ServerResponse) => arrive(raw, response)
  server.prependListener('request', onRequest)

  const requests = channel('http.server.request.start')
  const siblings = new WeakMap<object, boolean>()
  const onAnyRequest = (message: unknown) => {
    // Node ends the process for what a subscriber throws.
    boundary.guard(() => tellOfSibling(message), undefined)
  }
  function tellOfSibling(message: unknown): void {
    if (!isRequestMessage(message) || message.server === server) return
    let sibling = siblings.get(message.server)
    if (sibling === undefined) {
      // The second server was given the very same listener.
      const own = server.listeners('request').filter(listener => listener !== onRequest)
      sibling = message.server.listeners('request').some(listener => own.includes(listener))
      siblings.set(message.server, sibling)
    }
    if (sibling) arrive(message.request, message.response)
  }
  requests.subscribe(onAnyRequest)
  app.addHook('onClose', async () => {
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
