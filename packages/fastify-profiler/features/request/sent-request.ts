import type { HeaderLine, Json, Profile, RequestRecord } from '../../core/profile.ts'

/** Headers that curl sets by itself, and the pseudo-headers of HTTP/2. */
const automatic = /^(?:host|content-length|connection|accept-encoding|transfer-encoding|:.*)$/i

/** Masked values stay masked. */
export function curlCommand(profile: Profile): string {
  const { method, request } = profile
  const url = requestUrl(profile)
  const body = bodyText(profile)
  const parts = [
    // curl expands brackets and braces, and removes dots from paths.
    `curl ${/[[\]{}]/.test(url) ? '--globoff ' : ''}${/\/\.\.?(?:[/?]|$)/.test(url) ? '--path-as-is ' : ''}${quote(url)}`,
    ...methodOption(method, body),
    ...request.headers.filter(([name]) => !automatic.test(name)).map(line => `-H ${quote(headerText(line))}`),
    ...(body === null ? [] : [`--data-raw ${quote(body)}`]),
  ]
  return parts.join(' \\\n  ')
}

function methodOption(method: string, body: string | null): string[] {
  if (body !== null || !['GET', 'HEAD'].includes(method)) return [`-X ${quote(method)}`]
  // With -X HEAD, curl waits for a body.
  return method === 'HEAD' ? ['--head'] : []
}

/** Without a value, curl would remove the header. */
function headerText([name, value]: HeaderLine): string {
  return value === '' ? `${name};` : `${name}: ${value}`
}

function bodyText({ request }: Profile): string | null {
  const body = sentBody(request)
  if (body === null || body.form === 'multipart') return null
  return body.form === 'text' ? body.text : new URLSearchParams(sentPairs(body.fields)).toString()
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

type Asked = Pick<Profile, 'host' | 'protocol' | 'request' | 'url'>

/** The scheme and authority of a target in absolute form (RFC 9112, section 3.2.2). */
const absoluteForm = /^[a-z][\w+.-]*:\/\/[^/?#]*/i

/** The path and query that a request asked for. */
export function requestTarget({ url }: Pick<Profile, 'url'>): string {
  const target = url.replace(absoluteForm, '')
  return target.startsWith('/') ? target : `/${target}`
}

function requestUrl(asked: Asked): string {
  return `${asked.protocol}://${sentHost(asked) ?? 'localhost'}${requestTarget(asked)}`
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
function sentText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether a body is described, since it was no text: [312 bytes]. */
function isBinary(body: Json, size: number | null): boolean {
  return typeof body === 'string' && Number(/^\[(\d+) bytes\]$/.exec(body)?.[1]) === size
}
