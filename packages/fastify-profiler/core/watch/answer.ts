import { errorMonitor } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { isObject, setHeader, setMethod } from '../foreign-value.ts'
import { type Exchange, SentAnswer } from './exchange.ts'
import type { Recorders } from './current-recorder.ts'

/** Returns the body to send instead, or null for no change. It may set headers but not the status. */
export type Replace = (body: Buffer) => Buffer | null

export interface AnswerObserver {
  isReplied(): boolean
  /** Called once, before the head is written. Headers can be added until then. */
  beforeHead(): void
  /** Returns a function that replaces the complete body, or null. Called after `beforeHead`. */
  replacement(): Replace | null
  /** Calls a function whose errors must not reach the response. */
  guard(call: () => void): void
  /** Called with an error that ends the response after its head was sent, when no error handler runs any more. */
  failed(error: unknown): void
}

/**
 * Watches one raw response, and replaces its body if that is sent in one piece. Streams are never held back. Node's
 * response is watched rather than Fastify's hooks, because every response passes here, hijacked ones and those to
 * malformed URLs included, and because compression and ETags are done by then.
 */
export function watchAnswer(response: ServerResponse, observer: AnswerObserver): SentAnswer {
  const { writeHead, write, end, flushHeaders, destroy } = response
  const answer = new SentAnswer(response)
  const replacement = new BodyReplacement(response, observer, answer)
  let ending = false

  const watched = {
    writeHead(status: number, ...rest: unknown[]): unknown {
      // Node throws for these now, where the caller can catch it.
      const isStatus = status >= 100 && status <= 999
      if (!isStatus || replacement.isHeadKnown) return Reflect.apply(writeHead, response, [status, ...rest])
      response.statusCode = status
      observer.guard(() => answer.tell(status))
      const others = takeHeaders(response, rest)
      const args = [status, ...(others ?? rest)]
      replacement.announce()
      const mayWait = others !== null && !ending && !answer.streamed
      if (!mayWait || !replacement.hold(args)) return Reflect.apply(writeHead, response, args)
      // Waits only for a body that is sent in the same tick.
      process.nextTick(() => observer.guard(() => replacement.release()))
      return response
    },

    write(...args: unknown[]): unknown {
      if (!ending) {
        if (replacement.keep(args)) return true
        answer.streamed = true
        replacement.release()
        answer.count(args[0])
      }
      return Reflect.apply(write, response, args)
    },

    end(...args: unknown[]): unknown {
      ending = true
      if (!replacement.isHeadKnown) observer.guard(() => answer.tell(response.statusCode))
      observer.guard(() => {
        if (!replacement.isHeadKnown && !answer.streamed && isBody(args[0])) {
          replacement.announce()
          replacement.hold([response.statusCode])
        }
        replacement.replaceIn(args)
      })
      replacement.release()
      answer.count(args[0])
      return Reflect.apply(end, response, args)
    },

    flushHeaders(): void {
      answer.streamed = true
      if (!replacement.isHeadKnown) observer.guard(() => answer.tell(response.statusCode))
      replacement.release()
      Reflect.apply(flushHeaders, response, [])
    },

    destroy(error?: Error): unknown {
      observer.guard(() => {
        if (answer.breakOff() && error !== undefined && response.headersSent) observer.failed(error)
      })
      return Reflect.apply(destroy, response, [error])
    },
  }
  for (const [name, method] of Object.entries(watched)) setMethod(response, name, method)
  watchPipe(response, answer, observer)
  return answer
}

/** Watches for a stream that fails after the head was sent. */
function watchPipe(response: ServerResponse, answer: SentAnswer, observer: AnswerObserver): void {
  response.once('pipe', source => {
    // The errorMonitor event does not count as handling the error.
    observer.guard(() => {
      source.once(errorMonitor, error => {
        if (response.headersSent && !answer.isOver) observer.failed(error)
      })
    })
  })
}

/**
 * Sets the headers passed to writeHead, so that they can be read.
 * @returns the arguments without them; null for headers in a form that Node must handle
 */
function takeHeaders(response: ServerResponse, args: unknown[]): unknown[] | null {
  const headers = args.at(-1)
  if (typeof headers === 'string') return args
  if (Array.isArray(headers)) return takeList(response, headers) ? args.slice(0, -1) : null
  if (headers !== undefined && !isHeaders(headers)) return null
  for (const [name, value] of Object.entries(headers ?? {})) {
    // Left for Node, which throws for it.
    if (value !== undefined) response.setHeader(name, value)
  }
  return args.slice(0, -1)
}

/**
 * Sets headers from a list of names and values, or of pairs. Node 20 keeps only the last header of a name once another
 * header is set, as the profiler does.
 * @returns false for a list that Node must handle
 */
function takeList(response: ServerResponse, list: readonly unknown[]): boolean {
  const items: readonly unknown[] = list.every(Array.isArray) ? list.flat() : list
  if (items.length % 2 !== 0 || response.getHeaderNames().length > 0) return false
  const lines = new Map<string, { name: string; values: string[] }>()
  for (let index = 0; index < items.length; index += 2) {
    const [name, value] = items.slice(index, index + 2)
    if (typeof name !== 'string' || (typeof value !== 'string' && typeof value !== 'number')) return false
    const line = lines.get(name.toLowerCase()) ?? { name, values: [] }
    lines.set(name.toLowerCase(), line)
    line.values.push(String(value))
  }
  for (const { name, values } of lines.values()) {
    response.setHeader(name, values.length === 1 ? String(values[0]) : values)
  }
  return true
}

function isHeaders(value: unknown): value is OutgoingHttpHeaders {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Watches when a reply is sent, awaited or hijacked. Each function is declared before it is set, or V8 allocates
 * it in its old space, where all it refers to stays until a full garbage collection. Set directly, these and those of
 * exchange.ts and traced-call.ts make each profiled request slower.
 */
export function watchReply(reply: FastifyReply, exchange: Exchange, recorders: Recorders): void {
  const { hijack, send, then } = reply
  const { recorder } = exchange
  const { calls } = recorder
  function watchedHijack(this: FastifyReply): FastifyReply {
    exchange.hijacked = true
    recorders.guard(recorder, () => recorder.hijacking(), undefined)
    return hijack.call(this)
  }
  /** @returns whether the payload is a stream */
  const watchStream = (payload: object): boolean =>
    recorders.guard(
      recorder,
      () =>
        'pipe' in payload ||
        watchWebStream(payload, error => {
          // Before the head is sent, Fastify calls the error handlers.
          if (exchange.response.headersSent) recorders.guard(recorder, () => recorder.exception(error), undefined)
        }),
      false,
    )
  // Adds only one frame to the stacks of failing hooks, since V8 keeps just ten.
  function watchedSend(this: FastifyReply, payload?: unknown): FastifyReply {
    const sending = calls.sends()
    exchange.isReplied = true
    const isStream = isObject(payload) && watchStream(payload)
    const sent = send.call(this, payload)
    // The head of a stream is written with its first chunk.
    if (isStream) recorder.answering()
    if (sending !== null) calls.sent(sending)
    return sent
  }
  // Called when a function returns or awaits the reply.
  function watchedThen(this: FastifyReply, fulfilled: () => void, rejected: (error: Error) => void): void {
    calls.waits()
    then.call(
      this,
      () => {
        calls.goesOn()
        fulfilled()
      },
      rejected,
    )
  }
  setMethod(reply, 'hijack', watchedHijack)
  setMethod(reply, 'send', watchedSend)
  setMethod(reply, 'then', watchedThen)
}

/** A web ReadableStream, which reports its failure only to its reader. */
interface WebStream {
  getReader(): { readonly closed: Promise<unknown> }
}

/**
 * Calls `failed` if the payload is a web stream, or a Response with one, and that fails.
 * @returns whether the payload is one of these
 */
function watchWebStream(payload: object, failed: (error: unknown) => void): boolean {
  // Checked as Fastify does: mentioning the class Response makes Node load all of fetch.
  if ('body' in payload && Object.prototype.toString.call(payload) === '[object Response]') {
    return isObject(payload.body) && watchWebStream(payload.body, failed)
  }
  if (!isWebStream(payload)) return false
  const { getReader } = payload
  setMethod(payload, 'getReader', function (this: WebStream, ...args: Parameters<typeof getReader>) {
    const reader = getReader.apply(this, args)
    reader.closed.catch(failed)
    return reader
  })
  return true
}

function isWebStream(value: object): value is WebStream {
  return 'getReader' in value && typeof value.getReader === 'function'
}

/** Replaces the body of a response that is sent in one piece; the head waits until its length is known. */
class BodyReplacement {
  readonly #response: ServerResponse
  readonly #observer: AnswerObserver
  readonly #answer: SentAnswer
  /** The response's own functions. */
  readonly #writeHead: ServerResponse['writeHead']
  readonly #write: ServerResponse['write']
  #announced = false
  /** The arguments of a writeHead that is delayed, and the function that replaces the body. */
  #held: { args: unknown[]; replace: Replace } | null = null
  /** What was written while the head waits. */
  #chunk: unknown = null

  constructor(response: ServerResponse, observer: AnswerObserver, answer: SentAnswer) {
    this.#response = response
    this.#observer = observer
    this.#answer = answer
    this.#writeHead = response.writeHead
    this.#write = response.write
  }

  /** Whether the head was written or waits for the body. */
  get isHeadKnown(): boolean {
    return this.#response.headersSent || this.#held !== null
  }

  announce(): void {
    if (this.#announced) return
    this.#announced = true
    this.#observer.beforeHead()
  }

  /** Delays writing the head if the body may be replaced. @returns whether it does */
  hold(args: unknown[]): boolean {
    const replace = this.#observer.replacement()
    if (replace !== null) this.#held = { args, replace }
    return replace !== null
  }

  /** Delays a chunk that may be the whole body, which Fastify until 5.8 writes apart. @returns whether it does */
  keep(args: unknown[]): boolean {
    const [chunk] = args
    const mayBeAll = this.#held !== null && this.#chunk === null && args.length === 1 && isBody(chunk)
    if (!mayBeAll || !this.#observer.isReplied() || this.#response.hasHeader('trailer')) return false
    this.#chunk = chunk
    return true
  }

  /** Writes the head if it was delayed, and what was written since. */
  release(): void {
    if (this.#held === null) return
    const { args } = this.#held
    const chunk = this.#chunk
    this.#held = null
    this.#chunk = null
    Reflect.apply(this.#writeHead, this.#response, args)
    if (chunk === null) return
    this.#answer.streamed = true
    this.#answer.count(chunk)
    Reflect.apply(this.#write, this.#response, [chunk])
  }

  /** Replaces the body in the arguments of `end`. */
  replaceIn(args: unknown[]): void {
    const response = this.#response
    if (this.#chunk !== null && !isBody(args[0])) {
      const callback = args.find(argument => typeof argument === 'function')
      args.splice(0, Infinity, this.#chunk, callback)
      this.#chunk = null
    }
    const [chunk, encoding] = args
    if (this.#held === null || this.#chunk !== null || !isBody(chunk)) return
    const body = this.#held.replace(bodyOf(chunk, encoding))
    if (body !== null) {
      setHeader(response, 'content-length', body.byteLength)
      args[0] = body
      if (typeof encoding === 'string') args[1] = undefined
    } else if (!response.hasHeader('content-length')) {
      response.setHeader('content-length', bodyOf(chunk, encoding).byteLength)
    }
  }
}

/** Whether an argument of `end` is a body, rather than a callback or nothing. */
function isBody(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

function bodyOf(chunk: string | Uint8Array, encoding: unknown): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}
