import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Recorder } from './recorder.ts'

/** The key under which this profiler passes on its token in `tracestate`. */
const key = 'fastify-profiler'

const validParent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/
const validToken = /^[\w-]{12}$/

/** The headers of an outgoing request. */
export interface OutgoingHeaders {
  has(name: string): boolean
  add(name: string, value: string): void
}

/** The token of the profiled request that led to this one; null if its headers name none. */
export function parentIn({ headers }: IncomingMessage): string | null {
  const { tracestate } = headers
  if (typeof tracestate !== 'string') return null
  for (const member of tracestate.split(',')) {
    const [name, token = ''] = member.trim().split('=')
    if (name === key) return validToken.test(token) ? token : null
  }
  return null
}

/** Adds the W3C's trace headers to a request to one of the application's own services, unless it has some. */
export function addTraceHeaders(recorder: Recorder, origin: string, headers: OutgoingHeaders): void {
  if (!recorder.propagatesTo(origin) || headers.has('traceparent')) return
  const digest = createHash('sha256').update(recorder.token).digest('hex')
  const { traceparent } = recorder.raw.headers
  const trace = validParent.exec(String(traceparent))?.[1]
  headers.add('traceparent', `00-${trace ?? digest.slice(0, 32)}-${digest.slice(32, 48)}-01`)
  if (!headers.has('tracestate')) headers.add('tracestate', `${key}=${recorder.token}`)
}
