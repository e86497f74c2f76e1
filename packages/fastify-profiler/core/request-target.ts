import type { IncomingMessage } from 'node:http'
import type { Json, Profile, RequestRecord } from './profile.ts'

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

/** A host without its port, in lower case. */
export function hostName(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '')
}

/** The Host header with its port, or HTTP/2's :authority, since `profile.host` lacks the port. */
export function sentHost({ host, request }: Pick<Profile, 'host' | 'request'>): string | null {
  return request.headers.find(([name]) => /^(?:host|:authority)$/i.test(name))?.[1] ?? host
}

/** A body as it may have been sent: the fields of a form, or text. */
type SentBody = { form: 'urlencoded' | 'multipart'; fields: Record<string, Json> } | { form: 'text'; text: string }

/** The body of a request, as far as it is recorded; null if there was none, or if it was binary. */
export function sentBody({ body, bodySize, contentType }: RequestRecord): SentBody | null {
  if (body === null || isBinary(body, bodySize)) return null
  if (typeof body === 'object' && !Array.isArray(body)) {
    if (contentType?.startsWith('multipart/') === true) return { form: 'multipart', fields: body }
    if (contentType?.startsWith('application/x-www-form-urlencoded') === true) {
      return { form: 'urlencoded', fields: body }
    }
  }
  return { form: 'text', text: sentText(body) }
}

/** Names and values as pairs: several values of one name are several pairs. */
export function sentPairs(values: Readonly<Record<string, Json>>): Array<[name: string, value: string]> {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, sentText(each)]),
  )
}

/** A recorded value as the text that may have been sent. */
export function sentText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether a body is described, since it was no text: [312 bytes]. */
function isBinary(body: Json, size: number | null): boolean {
  return typeof body === 'string' && Number(/^\[(\d+) bytes\]$/.exec(body)?.[1]) === size
}

const names: Record<string, string> = {
  'text/html': 'HTML',
  'text/plain': 'text',
  'text/css': 'CSS',
  'text/javascript': 'JavaScript',
  'text/event-stream': 'event stream',
  'application/json': 'JSON',
  'application/problem+json': 'JSON',
  'application/octet-stream': 'binary',
}

/** A content type in a word: HTML, JSON, png. */
export function mediaTypeName(contentType: string): string {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
  return names[type] ?? type.slice(type.indexOf('/') + 1)
}
