import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { HttpError } from './errors/http-errors.ts'
import { lingering } from './limits.ts'

const statuses = new Map<unknown, number>([['HPE_HEADER_OVERFLOW', 431], ['ERR_HTTP_REQUEST_TIMEOUT', 408]])

/** Answers what never becomes a request, since Node's HTTP parser refused it or it is a CONNECT: a status, a problem, a closed connection. */
export function answerParserError (error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = statuses.get(error.code) ?? 400
  const title = STATUS_CODES[status]
  const detail = error instanceof HttpError ? error.message : 'The request could not be read as HTTP.'
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  socket.end(`HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
  // Its own half of the connection a client may never close.
  const impatience = setTimeout(() => { socket.destroy() }, lingering)
  socket.once('close', () => { clearTimeout(impatience) })
}
