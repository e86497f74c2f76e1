import type { HeaderLine, Profile } from '../../core/profile.ts'
import { requestUrl, sentBody, sentPairs } from './sent-request.ts'

/** Headers that curl sets by itself, and the pseudo-headers of HTTP/2. */
const automatic = /^(?:host|content-length|connection|accept-encoding|transfer-encoding|:.*)$/i

/** A shell command that repeats a request. Masked values stay masked. */
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

/** The body as it may have been sent; null if it is not known. */
function bodyText({ request }: Profile): string | null {
  const body = sentBody(request)
  if (body === null || body.form === 'multipart') return null
  return body.form === 'text' ? body.text : new URLSearchParams(sentPairs(body.fields)).toString()
}

/** Quotes text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
