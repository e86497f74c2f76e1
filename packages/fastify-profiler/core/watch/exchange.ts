import type { IncomingMessage, ServerResponse } from 'node:http'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProfileBounds } from '../bounds.ts'
import { attempt, isObject, setMethod } from '../foreign-value.ts'
import type { Profile, Unseen } from '../profile.ts'
import { pathOfUrl } from '../urls.ts'
import type { OwnPages, Recorders } from './current-recorder.ts'
import type { KnownRoutes, MatchedPattern } from './known-routes.ts'
import type { PluginTree } from './plugin-tree.ts'
import type { Recorder } from './recorder.ts'
import type { Work } from './running-calls.ts'

/** The state that all watchers of an application share. */
export interface WatchedApplication {
  ownPages: OwnPages
  recorders: Recorders
  routes: KnownRoutes
  plugins: PluginTree
  /** Sentences that every profile starts with. */
  notes: Set<string>
  /** Every profile has these. */
  unseen: Unseen[]
}

/** A request and its response, from its arrival until its profile is stored. */
export interface Exchange {
  recorder: Recorder
  raw: IncomingMessage
  response: ServerResponse
  answer: SentAnswer
  /** Null for a request without a body. */
  received: Received | null
  /** A copy of the body as it was parsed; undefined before, and if Fastify has parsed none. */
  body: unknown
  /** Null for a request without an Upgrade header. */
  upgrade: Upgrade | null
  /** Null until Fastify makes them. For a malformed URL it may never do so. */
  request: FastifyRequest | null
  reply: FastifyReply | null
  /** As Fastify tells it on arrival over HTTP/2, whose requests do not know it after the response; otherwise null. */
  protocol: string | null
  /** The route that matched. Stays when the application calls `reply.callNotFound()`. */
  route: MatchedPattern | null
  hijacked: boolean
  /** Whether `reply.send` has been called. */
  isReplied: boolean
  /** True once the whole response has been handed to the operating system. */
  finished: boolean
  /** Its index in the list of open exchanges; null if it is not open. */
  place: number | null
  /** Set at the end of the response. Resolves when the profile is stored, or is waiting for unfinished work. */
  due: Promise<void> | null
  /** Set at the end of the response. Resolves with the profile when it is stored; with null if that failed. */
  stored: Promise<Profile | null> | null
}

/**
 * Keeps the exchanges that have no profile yet, unordered.
 * For performance: a Set's old hash tables keep ended requests alive until V8's next full garbage collection.
 */
export class OpenExchanges {
  readonly #exchanges: Exchange[] = []

  get count(): number {
    return this.#exchanges.length
  }

  list(): Exchange[] {
    return [...this.#exchanges]
  }

  has(exchange: Exchange): boolean {
    return exchange.place !== null
  }

  add(exchange: Exchange): void {
    exchange.place = this.#exchanges.push(exchange) - 1
  }

  /** @returns whether it was among them */
  remove(exchange: Exchange): boolean {
    const { place } = exchange
    if (place === null) return false
    exchange.place = null
    // Moves the last one to the free place, so that removing takes constant time.
    const last = this.#exchanges.pop()
    if (last === undefined || last === exchange) return true
    last.place = place
    this.#exchanges[place] = last
    return true
  }
}

// Imported, because tests replace the global timers.
/** Waits a limited time for work that outlives its response. */
export class Patience {
  readonly #milliseconds: number
  readonly #ends = new Set<() => void>()

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Calls back when the work is done, or when the time is over. */
  wait(work: Work, callback: () => void): void {
    const end = () => {
      clearTimeout(deadline)
      this.#ends.delete(end)
      callback()
    }
    const deadline = setTimeout(end, this.#milliseconds)
    this.#ends.add(end)
    const lookAgain = () => (work.isUnderWay ? onceIdle() : end())
    // Response hooks run one after another, so the next one may not have begun yet.
    const onceIdle = () =>
      work.whenIdle(() => {
        setImmediate(lookAgain)
      })
    onceIdle()
  }

  /** Calls back now, for all that wait. */
  end(): void {
    for (const end of this.#ends) end()
  }
}

const calls = new Set<() => void>()

process.on('exit', () => {
  for (const call of calls) call()
})

/**
 * Calls a function when the process exits, also after an uncaught error. All applications share one listener.
 * @returns a function that unregisters the callback
 */
export function atExit(call: () => void): () => void {
  calls.add(call)
  return () => {
    calls.delete(call)
  }
}

/** Fastify's error for a URL that its router does not take. Fastify makes none if nobody handles it. */
class RejectedUrlError extends Error {
  override readonly name = 'FastifyError'
  readonly code: string
  readonly statusCode: number

  constructor(code: string, message: string, statusCode: number) {
    super(message)
    this.code = code
    this.statusCode = statusCode
  }
}

/** Why the router rejects a URL; null if it is for another reason than the URL. */
export function rejectionOf(url: string, { maxParamLength = Infinity }: KnownRoutes['paths']): Error | null {
  const path = pathOfUrl(url)
  const decoded = attempt(() => decodeURIComponent(path), null)
  if (decoded === null) return new RejectedUrlError('FST_ERR_BAD_URL', `'${path}' is not a valid url component`, 400)
  if (path.split('/').every(({ length }) => length <= maxParamLength)) return null
  return new RejectedUrlError('FST_ERR_MAX_PARAM_LENGTH', `'${path}' is exceeding the max param length`, 414)
}

/** How much of a request's body has arrived. */
interface Received {
  bytes: number
}

/**
 * Counts the bytes of a body as they arrive, whether or not they are read: Content-Length may declare more.
 * @returns null if no body is announced
 */
export function watchBody(raw: IncomingMessage): Received | null {
  const { headers, httpVersionMajor, method } = raw
  const isAnnounced = 'content-length' in headers || 'transfer-encoding' in headers
  // HTTP/2 needs neither header for a body.
  if (!isAnnounced && (httpVersionMajor < 2 || method === 'GET' || method === 'HEAD')) return null
  const received: Received = { bytes: 0 }
  const { push } = raw
  // Declared before it is set: see watchReply().
  function countingPush(this: IncomingMessage, chunk: unknown, encoding?: BufferEncoding): boolean {
    if (typeof chunk === 'string') received.bytes += Buffer.byteLength(chunk, encoding)
    else if (ArrayBuffer.isView(chunk)) received.bytes += chunk.byteLength
    return push.call(this, chunk, encoding)
  }
  setMethod(raw, 'push', countingPush)
  return received
}

/** Copies the part of a body that a profile may hold, since the application may change the body. */
export function copyOfBody(body: unknown, { depth, values }: ProfileBounds): unknown {
  const copies = new Map<object, object>()
  let left = values

  // What is over the bounds is not copied, but counted: a longer list keeps its length, a larger object is kept itself.
  function copyOf(value: unknown, levels: number): unknown {
    if (!isObject(value) || levels === 0) return value
    const known = copies.get(value)
    if (known !== undefined) return known
    if (Array.isArray(value)) {
      const copy: unknown[] = value.slice(0, left)
      copies.set(value, copy)
      for (let index = 0; index < copy.length && left > 0; index++) {
        left--
        copy[index] = copyOf(copy[index], levels - 1)
      }
      copy.length = value.length
      return copy
    }
    const keys = isPlain(value) ? Object.keys(value) : null
    if (keys === null || keys.length > left) return value
    const copy = { ...value }
    copies.set(value, copy)
    for (const key of keys) {
      if (left === 0) break
      left--
      const item: unknown = Reflect.get(copy, key)
      if (isObject(item)) Reflect.set(copy, key, copyOf(item, levels - 1))
    }
    return copy
  }

  return copyOf(body, depth)
}

/** Some parsers, such as that of forms, have a prototype of their own, which inherits nothing. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return !isObject(prototype) || Object.getPrototypeOf(prototype) === null
}

/** What was sent of a response. */
export class SentAnswer {
  /** The status that was sent; null if none was, or if the client had left before. */
  status: number | null = null
  /** Bytes and chunks of body sent so far. */
  bytes = 0
  chunks = 0
  /** Whether a part of it may have been sent before its end. */
  streamed = false
  /** True if the server destroyed the response before its end. */
  brokenOff = false
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Whether the client has left. */
  get isOver(): boolean {
    const { destroyed, req } = this.#response
    // Some adapters make requests without a socket.
    return destroyed || req?.socket?.destroyed
  }

  /** Records the status that is sent. A pipelined response has no socket until the one before it has ended. */
  tell(status: number): void {
    if (this.#response.socket === null) this.#response.once('socket', () => this.tell(status))
    else if (!this.isOver) this.status = status
  }

  /** Records a chunk of the body. */
  count(chunk: unknown): void {
    if (typeof chunk === 'string') this.bytes += Buffer.byteLength(chunk)
    else if (ArrayBuffer.isView(chunk)) this.bytes += chunk.byteLength
    else return
    this.chunks++
  }

  /** Records that the server destroys the response. @returns false if it had ended, or the client had left */
  breakOff(): boolean {
    const { req, writableEnded } = this.#response
    // Node does not call destroy when the client leaves. light-my-request does, after it has destroyed the request.
    if (this.isOver || writableEnded || (req.destroyed && !req.readableEnded)) return false
    this.brokenOff = true
    return true
  }
}

/** The response to an upgrade request. It is written to the socket, past Node's response. */
interface Upgrade {
  /** 101 if the protocol was switched; null until something is written. */
  status: number | null
}

/**
 * Reads the status from the first write to an upgrade request's socket.
 * @param answered called with that write if it has a status
 * @returns null for any other request
 */
export function watchUpgrade(
  { headers }: IncomingMessage,
  { socket }: ServerResponse,
  answered: () => void,
): Upgrade | null {
  if (headers.upgrade === undefined || socket === null) return null
  const upgrade: Upgrade = { status: null }
  const inherited: PropertyDescriptorMap = {}
  for (const name of ['write', 'end'] as const) {
    const method = socket[name]
    inherited[name] = Object.getOwnPropertyDescriptor(socket, name) ?? {
      value: method,
      configurable: true,
      writable: true,
    }
    Object.defineProperty(socket, name, {
      configurable: true,
      writable: true,
      value(...args: unknown[]): unknown {
        // Later writes belong to the other protocol.
        Object.defineProperties(socket, inherited)
        upgrade.status ??= statusIn(args[0])
        if (upgrade.status !== null) answered()
        return Reflect.apply(method, socket, args)
      },
    })
  }
  return upgrade
}

function statusIn(head: unknown): number | null {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(typeof head === 'string' ? head : '') ?? []
  return status === undefined ? null : Number(status)
}
