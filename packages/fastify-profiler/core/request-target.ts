import type { IncomingMessage } from 'node:http'

/** The raw path of a request: no query, no fragment, an absolute-form target reduced to its path. */
export function pathOfUrl(url: string): string {
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  return path === '' ? '/' : path
}

/** The Host header of a request, or HTTP/2's :authority. */
export function requestHost({ headers }: IncomingMessage): string | null {
  const host = headers.host ?? headers[':authority']
  return typeof host === 'string' ? host : null
}

export function hostName(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '')
}
