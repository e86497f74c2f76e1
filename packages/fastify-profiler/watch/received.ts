import type { IncomingMessage } from 'node:http'
import { setMethod } from './set-method.ts'

/** How much of a request's body has arrived. */
export interface Received {
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
  // Declared before it is set: see watch-reply.ts.
  function countingPush(this: IncomingMessage, chunk: unknown, encoding?: BufferEncoding): boolean {
    if (typeof chunk === 'string') received.bytes += Buffer.byteLength(chunk, encoding)
    else if (ArrayBuffer.isView(chunk)) received.bytes += chunk.byteLength
    return push.call(this, chunk, encoding)
  }
  setMethod(raw, 'push', countingPush)
  return received
}
