import { channel } from 'node:diagnostics_channel'
import { errorMonitor } from 'node:events'
import { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { type AnyFunction, isObject, propertyOf } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import { watchBody } from '../../core/watch/exchange.ts'
import { addTraceHeaders } from '../../core/watch/request-identity.ts'
import { replaceMethod, toldMethod } from '../queries/drivers/driver.ts'
import { beginHttpCall, type HttpClientCall } from './http-calls.ts'

export function watchHttpCalls(): void {
  watchNode()
  watchUndici()
}

/** Undici and fetch, which is Node's own copy of it. All copies publish on the same channels. */
function watchUndici(): void {
  const calls = new WeakMap<object, HttpClientCall>()
  const ongoing = (message: object) => {
    const request: unknown = Reflect.get(message, 'request')
    return isObject(request) ? calls.get(request) : undefined
  }
  on('create', function created(message) {
    const request: unknown = Reflect.get(message, 'request')
    if (!isRequest(request)) return
    const call = beginHttpCall(request.method, `${String(request.origin)}${request.path}`, created)
    if (call === null) return
    calls.set(request, call)
    addTraceHeaders(call.recorder, String(request.origin), {
      has: name => namesIn(request.headers).includes(name),
      add: (name, value) => request.addHeader(name, value),
    })
  })
  on('headers', message => {
    const response: unknown = Reflect.get(message, 'response')
    if (!isObject(response)) return
    const headers: unknown = Reflect.get(response, 'headers')
    ongoing(message)?.answered(Number(Reflect.get(response, 'statusCode')), name => headerIn(headers, name))
  })
  on('bodyChunkReceived', message => {
    const chunk: unknown = Reflect.get(message, 'chunk')
    if (ArrayBuffer.isView(chunk)) ongoing(message)?.received(chunk.byteLength)
  })
  on('trailers', message => ongoing(message)?.end())
  on('error', message => ongoing(message)?.fail(Reflect.get(message, 'error')))
}

function on(name: string, hear: (message: object) => void): void {
  channel(`undici:request:${name}`).subscribe(message => {
    // An error thrown in a subscriber would end the process.
    if (isObject(message)) driverBoundary.guard(() => hear(message), undefined)
  })
}

interface UndiciRequest {
  method: string
  origin: unknown
  path: string
  /** A list of names and values, or text in older versions. */
  headers: unknown
  addHeader(name: string, value: string): void
}

function isRequest(value: unknown): value is UndiciRequest {
  return isObject(value) && 'method' in value && 'path' in value && 'addHeader' in value
}

function namesIn(headers: unknown): string[] {
  const list: unknown[] = typeof headers === 'string' ? headers.split(/: |\r\n/) : [headers].flat()
  return list.filter((_, index) => index % 2 === 0).map(name => String(name).toLowerCase())
}

/** Headers are a list of names and values, as bytes. */
function headerIn(headers: unknown, name: string): string | null {
  const list: unknown[] = [headers].flat()
  const place = list.findIndex((item, index) => index % 2 === 0 && String(item).toLowerCase() === name)
  return place === -1 ? null : String(list[place + 1])
}

/** Node's own client, for http: and https:. */
function watchNode(): void {
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
    const request = propertyOf(message, 'request')
    if (request instanceof ClientRequest) driverBoundary.guard(() => begin(request, created), undefined)
  })
  // Node 20 does not have that channel. Its agents get the request in the caller's stack.
  replaceMethod(Agent.prototype, 'addRequest', addRequest =>
    toldMethod(addRequest, (_agent, [request], below) => {
      if (request instanceof ClientRequest) begin(request, below)
    }),
  )
  channel('http.client.response.finish').subscribe(message => {
    const request = propertyOf(message, 'request')
    const response = propertyOf(message, 'response')
    if (!(request instanceof ClientRequest) || !(response instanceof IncomingMessage)) return
    const call = calls.get(request)
    if (call) driverBoundary.guard(() => follow(call, response), undefined)
  })
}

function follow(call: HttpClientCall, response: IncomingMessage): void {
  call.answered(response.statusCode ?? 0, name => response.headers[name])
  const body = watchBody(response)
  response.once('close', () => {
    if (body !== null) call.received(body.bytes)
    call.end()
  })
}
