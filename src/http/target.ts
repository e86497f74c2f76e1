import type { IncomingMessage } from 'node:http'

const absoluteForm = /^https?:\/\/([^/?#]*)/i

/**
 * The raw path of a request target (RFC 9112, section 3.2): percent-encoding, repeated slashes and dots untouched,
 * no query, no fragment; an absolute-form target reduced to its path.
 */
export function pathOf(target: string): string {
  // Nearly every target begins with a slash: those are spared the expression.
  const path = target.startsWith('/') ? target : target.replace(absoluteForm, '')
  return before('?', before('#', path)) || '/'
}

/** What comes before the first such mark; all, where there is none. */
export function before(mark: string, text: string): string {
  const end = text.indexOf(mark)
  return end === -1 ? text : text.slice(0, end)
}

/** The query of a request target as it was sent, with its question mark; empty where there is none. */
export function queryOf(target: string): string {
  const withoutFragment = before('#', target)
  const start = withoutFragment.indexOf('?')
  return start === -1 ? '' : withoutFragment.slice(start)
}

/** Whether a target has one of the forms that a server is asked in (RFC 9112, section 3.2). */
export function isTarget(method: string, target: string): boolean {
  return target.startsWith('/') || absoluteForm.test(target) || (target === '*' && method === 'OPTIONS')
}

/**
 * The target as Fastify's router is to read it (its rewriteUrl): a path with its query. The authority of an
 * absolute-form target replaces the Host header (RFC 9112, section 3.2.2), here already, since routes may be
 * constrained by it.
 */
export function toOriginForm(request: IncomingMessage): string {
  const target = String(request.url)
  if (target.startsWith('/')) return target
  const authority = absoluteForm.exec(target)?.[1]
  if (authority !== undefined) request.headers.host = authority
  // The router takes any first character for a slash: without one of its own "*login" would be "/login".
  return target.replace(absoluteForm, '').replace(/^[^/]/, '/$&') || '/'
}
