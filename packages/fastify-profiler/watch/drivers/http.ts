import { channel } from 'node:diagnostics_channel'
import { errorMonitor } from 'node:events'
import { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { propertyOf, type AnyFunction } from '../../base/foreign-value.ts'
import { driverBoundary } from '../driver-boundary.ts'
import { beginHttpCall, type HttpClientCall } from '../http-calls.ts'
import { watchBody } from '../received.ts'
import { addTraceHeaders } from '../trace-context.ts'
import type { Driver } from './driver.ts'
import { replaceMethod } from './replace-method.ts'

/** Node's own client, for http: and https:. */
export const httpDriver: Driver = {
  subscribe() {
    const calls = new WeakMap<ClientRequest, HttpClientCall | null>()

    function begin(request: ClientRequest, below: AnyFunction): void {
      if (calls.has(request)) return
      const origin = `${request.protocol}//${String(request.getHeader('host') ?? request.host)}`
      const call = beginHttpCall(request.method, origin + request.path, below)
      calls.set(request, call)
      if (call === null) return
      request.once(errorMonitor, error => call.fail(error))
      request.once('close', () => call.end())
      if (request.headersSent) return
      addTraceHeaders(call.recorder, origin, {
        has: name => request.hasHeader(name),
        add: (name, value) => request.setHeader(name, value),
      })
    }

    channel('http.client.request.created').subscribe(function created(message) {
      const request = partOf(message, 'request')
      if (request instanceof ClientRequest) driverBoundary.guard(() => begin(request, created), undefined)
    })
    // Node 20 does not have that channel. Its agents get the request in the caller's stack.
    replaceMethod(Agent.prototype, 'addRequest', addRequest => {
      return function watched(this: Agent, ...args: unknown[]): unknown {
        const [request] = args
        if (request instanceof ClientRequest) driverBoundary.guard(() => begin(request, watched), undefined)
        return Reflect.apply(addRequest, this, args)
      }
    })
    channel('http.client.response.finish').subscribe(message => {
      const request = partOf(message, 'request')
      const response = partOf(message, 'response')
      if (!(request instanceof ClientRequest) || !(response instanceof IncomingMessage)) return
      const call = calls.get(request)
      if (call) driverBoundary.guard(() => follow(call, response), undefined)
    })
  },
}

function follow(call: HttpClientCall, response: IncomingMessage): void {
  call.head(response.statusCode ?? 0, name => response.headers[name])
  const body = watchBody(response)
  response.once('close', () => {
    if (body !== null) call.received(body.bytes)
    call.end()
  })
}

function partOf(message: unknown, name: string): unknown {
  return propertyOf(message, name)
}
