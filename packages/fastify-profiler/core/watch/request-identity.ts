import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { RequestClock } from './running-calls.ts'

/** What the recorders of one request share: that of the request, and those of what it does after its response. */
export interface RequestIdentity {
  /** 72 random bits, URL-safe. */
  readonly token: string
  readonly clock: RequestClock
  readonly method: string
  readonly url: string
  /** The client's address, read at once because a closed socket has none. */
  readonly remoteAddress: string | null
  /** The token of the request that led to this one; null if that is unknown. */
  readonly parent: string | null
  /** The id of the W3C's trace that it belongs to; null if its headers name none. */
  readonly trace: string | null
}

// For performance: one buffer holds the bytes of 256 tokens, since a buffer for each is costly to collect as garbage.
const tokenBytes = 9
let random = Buffer.alloc(0)

/** A token of 72 random bits, URL-safe. */
export function newToken(): string {
  if (random.length < tokenBytes) random = randomBytes(tokenBytes * 256)
  const token = random.toString('base64url', 0, tokenBytes)
  random = random.subarray(tokenBytes)
  return token
}

/** The key under which this profiler passes on its token in `tracestate`. */
const key = 'fastify-profiler'

const validParent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/
const validToken = /^[\w-]{12}$/

/** Identifies a request. Some adapters make requests without a socket. @param parent unless its headers are to tell */
export function identify(
  { headers, method = 'GET', url = '/', socket }: Partial<IncomingMessage>,
  parent: string | null = null,
): RequestIdentity {
  const token = newToken()
  const { traceparent, tracestate } = headers ?? {}
  return {
    token,
    clock: new RequestClock(token),
    method,
    url,
    remoteAddress: socket?.remoteAddress ?? null,
    parent: parent ?? parentIn(tracestate),
    trace: typeof traceparent === 'string' ? (validParent.exec(traceparent)?.[1] ?? null) : null,
  }
}

/** The token of the profiled request that led to this one; null if `tracestate` names none. */
function parentIn(tracestate: unknown): string | null {
  if (typeof tracestate !== 'string') return null
  for (const member of tracestate.split(',')) {
    const [name, token = ''] = member.trim().split('=')
    if (name === key) return validToken.test(token) ? token : null
  }
  return null
}

interface OutgoingHeaders {
  has(name: string): boolean
  add(name: string, value: string): void
}

/** Adds the W3C's trace headers to a request to one of the application's own services, unless it has some. */
export function addTraceHeaders(
  request: RequestIdentity & { propagatesTo: (origin: string) => boolean },
  origin: string,
  headers: OutgoingHeaders,
): void {
  const { token, trace } = request
  if (!request.propagatesTo(origin) || headers.has('traceparent')) return
  const digest = createHash('sha256').update(token).digest('hex')
  headers.add('traceparent', `00-${trace ?? digest.slice(0, 32)}-${digest.slice(32, 48)}-01`)
  if (!headers.has('tracestate')) headers.add('tracestate', `${key}=${token}`)
}
