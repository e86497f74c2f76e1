import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ProfileBounds } from '../bounds.ts'
import { attempt } from '../foreign-value.ts'
import type { Boundary } from '../guard.ts'
import { type AnswerObserver, type Replace, watchAnswer, watchReply } from './answer.ts'
import { Attachment } from './attachment.ts'
import {
  copyOfBody,
  type Exchange,
  type OpenExchanges,
  rejectionOf,
  watchBody,
  watchUpgrade,
  type WatchedApplication,
} from './exchange.ts'
import type { Recorder } from './recorder.ts'
import type { Recorders } from './current-recorder.ts'
import { traceEarlierRoute } from './tracer.ts'

/**
 * Ends the exchanges of a connection that closes. While a pipelined response waits for the one before it, Node does not
 * tell it that the client has left.
 */
class Connections {
  readonly #exchanges = new WeakMap<EventEmitter, Exchange[]>()
  readonly #closed: (exchange: Exchange) => void

  /** @param closed called for each exchange whose connection has closed */
  constructor(closed: (exchange: Exchange) => void) {
    this.#closed = closed
  }

  add(exchange: Exchange): void {
    this.#exchangesOn(exchange)?.push(exchange)
  }

  remove(exchange: Exchange): void {
    const exchanges = this.#exchangesOn(exchange) ?? []
    const place = exchanges.indexOf(exchange)
    if (place !== -1) exchanges.splice(place, 1)
  }

  /** The open exchanges on the same connection; null for a request without a connection. */
  #exchangesOn({ raw: { socket } }: Exchange): Exchange[] | null {
    if (!(socket instanceof EventEmitter)) return null
    const known = this.#exchanges.get(socket)
    if (known !== undefined) return known
    const exchanges: Exchange[] = []
    this.#exchanges.set(socket, exchanges)
    socket.once('close', () => {
      for (const exchange of [...exchanges]) this.#closed(exchange)
    })
    return exchanges
  }
}

/** Changes the responses of watched requests. */
export interface AnswerEditor {
  /** Adds headers; called once, before the head is written. */
  editHead(exchange: Exchange): void
  /** Returns a function that replaces the body, or null. Called when the head is known. */
  editBody(exchange: Exchange): Replace | null
}

/** A request that has its route. */
export interface EnteredRequest {
  recorder: Recorder
  request: FastifyRequest
  /** The pattern of its route; undefined if it has none. */
  route: string | undefined
  /** Whether its client may see profiles. */
  mayAsk: () => boolean
  /** The recorders of the requests that have not ended. */
  unended: () => readonly Recorder[]
}

interface ExchangesParts {
  bounds: ProfileBounds
  application: WatchedApplication
  boundary: Boundary
  /** Holds exchanges until they have a profile. */
  open: OpenExchanges
  editor: AnswerEditor
  /** Whether the client of a request may see profiles. */
  isViewer: (raw: IncomingMessage) => boolean
  /** Called when Fastify has found the route of a request. */
  entered: (request: EnteredRequest) => void
  /** Called once for each exchange, at the end of its response or when the client leaves. */
  ended: (exchange: Exchange) => void
}

/** Follows each request from its arrival to the end of its response. */
export class Exchanges {
  readonly #parts: ExchangesParts
  readonly #exchanges = new Attachment<Exchange>()
  /** The newest one that Fastify has made no request for. */
  #arrived: Exchange | null = null
  readonly #connections = new Connections(exchange => this.#end(exchange))

  constructor(parts: ExchangesParts) {
    this.#parts = parts
  }

  /** Starts watching a request; does nothing if it is watched already. @returns null if it is not profiled */
  arrive(raw: IncomingMessage, response: ServerResponse): Exchange | null {
    const { recorders } = this.#parts.application
    try {
      const known = this.#exchanges.get(raw)
      if (known !== undefined) return known
      const before = performance.now()
      const recorder = recorders.of(raw)
      if (recorder === undefined) return null
      const exchange = this.#watch(recorder, raw, response)
      recorder.clock.ownTime += performance.now() - before
      this.#arrived = exchange
      return exchange
    } catch (error) {
      recorders.abandon(raw, error)
      return null
    }
  }

  /** Called when Fastify has made its request and reply, and has looked for the route. */
  enter(request: FastifyRequest, reply: FastifyReply): void {
    const { application, boundary } = this.#parts
    boundary.guard(() => {
      const exchange = this.arrive(request.raw, reply.raw)
      if (exchange === null || exchange.request !== null) return
      application.recorders.guard(exchange.recorder, () => this.#enter(exchange, request, reply), undefined)
    }, undefined)
  }

  /** Keeps the body as Fastify has parsed it, before hooks and validation may change it. */
  parsed({ body, raw }: FastifyRequest): void {
    const exchange = this.#exchanges.get(raw)
    if (exchange === undefined) return
    const { clock } = exchange.recorder
    const before = performance.now()
    exchange.body = attempt(() => copyOfBody(body, this.#parts.bounds), undefined)
    clock.ownTime += performance.now() - before
  }

  /** Called while Fastify rejects the URL of a request, without an error and before any hook. */
  rejectArrived(): void {
    const { application, boundary } = this.#parts
    boundary.guard(() => {
      const exchange = this.#arrived
      if (exchange === null || exchange.response.headersSent) return
      const error = rejectionOf(String(exchange.raw.url), application.routes.paths)
      if (error !== null) application.recorders.record(exchange, recorder => recorder.failing(error))
    }, undefined)
  }

  #watch(recorder: Recorder, raw: IncomingMessage, response: ServerResponse): Exchange {
    const observer = this.#observer(recorder, raw, () => exchange)
    const answer = watchAnswer(response, observer)
    const exchange: Exchange = {
      recorder,
      raw,
      response,
      answer,
      received: watchBody(raw),
      body: undefined,
      upgrade: watchUpgrade(raw, response, () => observer.guard(() => answering(exchange))),
      request: null,
      reply: null,
      protocol: null,
      route: null,
      hijacked: false,
      isReplied: false,
      finished: false,
      place: null,
      due: null,
      stored: null,
    }
    response.once('finish', () => {
      exchange.finished = true
    })
    response.once('close', () => this.#end(exchange))
    this.#connections.add(exchange)
    this.#exchanges.set(raw, exchange)
    this.#parts.open.add(exchange)
    return exchange
  }

  #observer(recorder: Recorder, raw: IncomingMessage, exchange: () => Exchange): AnswerObserver {
    const { editor, application } = this.#parts
    const { recorders } = application
    /** Makes a call with the request's clock stopped; does nothing if the request is no longer watched. */
    const edit = <Result>(call: () => Result): Result | null =>
      recorders.hasForgotten(raw) ? null : recorder.aside(() => recorders.guard<Result | null>(recorder, call, null))
    return {
      guard: call => recorders.guard(recorder, call, undefined),
      failed: error => recorder.exception(error),
      beforeHead: () => {
        answering(exchange())
        edit(() => editor.editHead(exchange()))
      },
      isReplied: () => exchange().isReplied,
      replacement: () => {
        const replace = edit(() => editor.editBody(exchange()))
        return replace === null ? null : body => edit(() => replace(body))
      },
    }
  }

  #enter(exchange: Exchange, request: FastifyRequest, reply: FastifyReply): void {
    const { application, isViewer, open } = this.#parts
    const { ownPages, recorders, routes } = application
    const { raw, recorder } = exchange
    exchange.request = request
    if (raw.httpVersionMajor > 1) exchange.protocol = attempt(() => request.protocol, null)
    if (this.#arrived === exchange) this.#arrived = null
    const { url: pattern, handler } = request.routeOptions
    // Routers decode "/%5fprofiler" to "/_profiler", and may ignore case and repeated slashes.
    if (pattern !== undefined && ownPages.include(pattern)) {
      recorders.disown(raw)
      open.remove(exchange)
      return
    }
    if (pattern !== undefined) {
      const isTraced = routes.find(handler) !== null
      if (!isTraced) traceEarlierRoute(request, application)
      exchange.route = { url: pattern, handler: isTraced ? handler : request.routeOptions.handler }
    }
    exchange.reply = reply
    watchReply(reply, exchange, recorders)
    this.#parts.entered({
      recorder,
      request,
      route: pattern,
      mayAsk: () => isViewer(raw),
      unended: () =>
        open
          .list()
          .map(({ recorder }) => recorder)
          .filter(({ ended }) => ended === null),
    })
  }

  /** Called when the response closes, when its connection closes, or for both. */
  #end(exchange: Exchange): void {
    const { boundary, ended, open } = this.#parts
    boundary.guard(() => {
      const { recorder } = exchange
      this.#connections.remove(exchange)
      if (this.#arrived === exchange) this.#arrived = null
      if (recorder.ended !== null || !open.has(exchange)) return
      boundary.guard(() => recorder.end(), undefined)
      ended(exchange)
    }, undefined)
  }
}

/** Called with the head of a response. Without `reply.send`, the application has written it. */
function answering({ isReplied, recorder, reply }: Exchange): void {
  if (isReplied) recorder.answering()
  else if (reply !== null) recorder.writing()
}

/**
 * Adds the profiler's own hooks, which record dispatch points and Fastify's own errors. They are added before the
 * tracer, and so are in no profile. None of them is an onSend hook: with one, Fastify catches what `reply.send` would
 * throw in the application.
 */
export function addRequestHooks(app: FastifyInstance, exchanges: Exchanges, recorders: Recorders): void {
  app.addHook('onRequest', function markRequest(request, reply, done) {
    exchanges.enter(request, reply)
    recorders.record(request, recorder => recorder.mark('kernel.request'))
    done()
  })
  app.addHook('preValidation', function keepBody(request, _reply, done) {
    if (request.body != null) exchanges.parsed(request)
    done()
  })
  app.addHook('preHandler', function markController(request, _reply, done) {
    recorders.record(request, recorder => {
      recorder.calls.validated()
      recorder.mark('kernel.controller')
    })
    done()
  })
  app.addHook('onResponse', function markFinish(request, _reply, done) {
    recorders.record(request, recorder => recorder.mark('kernel.finish_request'))
    done()
  })
  app.addHook('onError', function recordFailure(request, _reply, error, done) {
    recorders.record(request, recorder => recorder.failing(error))
    done()
  })
}
