import type { IncomingMessage } from 'node:http'

/** The host that a request asks for, which HTTP/2 puts into another header. */
export function requestHost({ headers }: IncomingMessage): string | null {
  const host = headers.host ?? headers[':authority']
  return typeof host === 'string' ? host : null
}

/** A host without its port, in lower case. */
export function hostName(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '')
}
