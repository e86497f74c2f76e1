import { STATUS_CODES } from 'node:http'
import { headerOf } from '../../collect/header-lines.ts'
import type { Profile } from '../../base/profile.ts'
import { pairs } from './har-request.ts'

/** The response of an entry. Its status is 0 if the client left before one was sent. */
export function harResponse({ httpVersion, response, status }: Profile) {
  const { contentType, headers } = response
  const size = response.bodySize ?? -1
  return {
    status: status ?? 0,
    statusText: STATUS_CODES[status ?? 0] ?? '',
    httpVersion: `HTTP/${httpVersion}`,
    cookies: headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => cookieOf(value)),
    headers: pairs(headers),
    content: { size, mimeType: contentType ?? 'x-unknown' },
    redirectURL: headerOf(headers, 'location') ?? '',
    headersSize: -1,
    bodySize: size,
  }
}

/** The cookie that a Set-Cookie header sets (RFC 6265, section 4.1). */
function cookieOf(line: string) {
  const [pair = '', ...attributes] = line.split(';').map(part => part.trim())
  const [name = '', ...value] = pair.split('=')
  const has = (wanted: string) => attributes.some(attribute => attribute.toLowerCase() === wanted)
  return { name, value: value.join('='), httpOnly: has('httponly'), secure: has('secure') }
}
