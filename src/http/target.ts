import type { IncomingMessage } from 'node:http'

const absoluteForm = /^https?:\/\/([^/?#]*)/i

/**
 * The raw path of a request target (RFC 9112, section 3.2), without scheme, host, query and fragment. Percent-encoding,
 * repeated slashes and dots are untouched.
 */
export function pathOf(target: string): string {
  // Nearly every target starts with a slash and needs no regular expression.
  const path = target.startsWith('/') ? target : target.replace(absoluteForm, '')
  return before('?', before('#', path)) || '/'
}

/** The text before the first such mark, or the whole text if there is none. */
export function before(mark: string, text: string): string {
  const end = text.indexOf(mark)
  return end === -1 ? text : text.slice(0, end)
}

/** The raw query of a request target with its question mark. Empty if there is none. */
export function queryOf(target: string): string {
  const withoutFragment = before('#', target)
  const start = withoutFragment.indexOf('?')
  return start === -1 ? '' : withoutFragment.slice(start)
}

/** Whether a target has a form that clients may send to a server (RFC 9112, section 3.2). */
export function isTarget(method: string, target: string): boolean {
  return target.startsWith('/') || absoluteForm.test(target) || (target === '*' && method === 'OPTIONS')
}

/**
 * Fastify's rewriteUrl: the path and query of a target. The authority of an absolute-form target replaces the Host
 * header (RFC 9112, section 3.2.2) before routing, because routes may be constrained by host.
 */
export function toOriginForm(request: IncomingMessage): string {
  const target = request.url ?? ''
  if (target.startsWith('/')) return target
  const authority = absoluteForm.exec(target)?.[1]
  if (authority !== undefined) request.headers.host = authority
  // The router takes any first character for a slash, so "*login" would match "/login".
  return target.replace(absoluteForm, '').replace(/^[^/]/, '/$&') || '/'
}
