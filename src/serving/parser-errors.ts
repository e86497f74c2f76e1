import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { lingering } from './limits.ts'

const answers = new Map<unknown, { status: number; detail: string }>([
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: "The request's target and headers are too large." }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, detail: 'The request did not arrive in time.' }],
])
const unreadable = { status: 400, detail: 'The request is not valid HTTP.' }

/** Answers a request that Node's HTTP parser rejected with a problem document, and closes the connection. */
export function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, detail } = answers.get(error.code) ?? unreadable
  const title = STATUS_CODES[status]
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\n` +
      'Content-Type: application/problem+json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
  // The client may never close its half of the connection.
  const impatience = setTimeout(() => {
    socket.destroy()
  }, lingering)
  socket.once('close', () => {
    clearTimeout(impatience)
  })
}
