import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

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

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Whether requests with this method change nothing (RFC 9110, section 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return safeMethods.has(method)
}

const loopback = /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/
/** Headers that proxies add to the requests that they forward. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']

/** Whether a request comes from this machine itself, as far as its address and headers tell. */
export function isLocal({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): boolean {
  return loopback.test(ip) && !proxyHeaders.some(name => name in headers)
}

/**
 * Decodes a header's value as UTF-8 for display, because Node decodes headers as latin1. Values that are not UTF-8 stay
 * as they are. Targets are always ASCII, because Node's parser rejects others.
 */
export function decodeUtf8(text: string): string {
  // ASCII needs no decoding. A character above 0xff means that Node did not decode the text as latin1.
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : text
}
