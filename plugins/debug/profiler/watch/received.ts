import type { IncomingMessage } from 'node:http'

/** What has come of a request's body. */
export interface Received {
  bytes: number
}

/**
 * Counts the bytes of a body as they come in, whoever reads them and whether anybody does: what was declared may be
 * more than what came. Null where no body is announced.
 */
export function watchBody(raw: IncomingMessage): Received | null {
  const { headers, httpVersionMajor, method } = raw
  const isAnnounced = 'content-length' in headers || 'transfer-encoding' in headers
  // HTTP/2 announces nothing.
  if (!isAnnounced && (httpVersionMajor < 2 || method === 'GET' || method === 'HEAD')) return null
  const received: Received = { bytes: 0 }
  const { push } = raw
  // Named before it is assigned: else V8 makes it in its old space, where what it refers to outlives the request.
  const countingPush: typeof push = function (this: IncomingMessage, chunk: unknown, encoding) {
    if (typeof chunk === 'string') received.bytes += Buffer.byteLength(chunk, encoding)
    else if (ArrayBuffer.isView(chunk)) received.bytes += chunk.byteLength
    return push.call(this, chunk, encoding)
  }
  raw.push = countingPush
  return received
}
