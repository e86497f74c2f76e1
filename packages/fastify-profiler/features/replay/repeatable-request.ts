import { attempt } from '../../core/foreign-value.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import { leftOut } from '../../core/mask/mask.ts'
import type { Profile } from '../../core/profile.ts'

/** What is known of a stored request, to send it again. */
export interface RepeatableRequest {
  method: 'GET' | 'HEAD'
  url: string
  headers: Record<string, string[]>
  /** The client's address; null if it is not known. */
  ip: string | null
  /** Sentences about what is not sent again. */
  notes: string[]
}

/** Why a request cannot be sent again, as a sentence. */
export class NotRepeatable extends Error {
  override readonly name = 'NotRepeatable'
}

/** Headers of a connection or a body, and the pseudo-headers of HTTP/2, which a new request has its own of. */
const ofConnection =
  /^(?:connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|:.*)$/i

/** Whether requests with this method may be sent again: they are safe (RFC 9110, section 9.2.1). */
export function isRepeatable(method: string): method is RepeatableRequest['method'] {
  return method === 'GET' || method === 'HEAD'
}

/** Makes a request of a profile. What was masked or shortened is left out, and told. */
export function repeatableRequest(profile: Profile): RepeatableRequest | NotRepeatable {
  const { ip, method, outcome, url } = profile
  if (!isRepeatable(method)) {
    return new NotRepeatable(`Only GET and HEAD can be replayed: a ${method} may change something.`)
  }
  if (outcome === 'upgraded') return new NotRepeatable('A connection to another protocol cannot be replayed.')
  if (!isWhole(url)) return new NotRepeatable('The URL is masked or shortened, and cannot be replayed.')
  if (urlOnArrival(url) !== url) {
    return new NotRepeatable('The URL is not in its normal form: a replay would ask for another one.')
  }
  const { headers, lost } = headersOf(profile)
  return { method, url, headers, ip: ip === null || !isWhole(ip) ? null : ip, notes: [...notesOf(profile, lost)] }
}

/** A URL as `inject` passes it on; null if it refuses it. */
function urlOnArrival(url: string): string | null {
  const origin = 'http://localhost'
  return attempt(() => {
    const { pathname, search } = new URL(url.startsWith('//') ? origin + url : url, origin)
    return pathname + search
  }, null)
}

/** Whether a text is as it was received. */
function isWhole(text: string): boolean {
  return !text.includes(masked) && text !== leftOut && !/… \(\d+ characters\)$/.test(text)
}

function headersOf({ request }: Profile) {
  const headers = new Map<string, string[]>()
  const lost = new Set<string>()
  const add = (name: string, value: string) => headers.set(name, [...(headers.get(name) ?? []), value])
  for (const [given, value] of request.headers) {
    const name = given.toLowerCase()
    if (name === ':authority') add('host', value)
    if (ofConnection.test(name)) continue
    if (isWhole(value)) add(name, value)
    else lost.add(name)
  }
  return { headers: Object.fromEntries(headers), lost }
}

function* notesOf({ dropped, ip, request }: Profile, lost: ReadonlySet<string>): Generator<string> {
  if (lost.size > 0) {
    const names = new Intl.ListFormat('en').format(lost)
    yield `Replayed without ${names}, which ${lost.size === 1 ? 'is' : 'are'} masked or shortened.`
  }
  if (dropped.some(({ what }) => what === 'headers')) yield 'Replayed without headers, which are not stored.'
  if (ip === null || !isWhole(ip)) yield 'Replayed from 127.0.0.1, since the address of the client is not known.'
  if ((request.bodySize ?? 0) > 0) yield 'Replayed without the body.'
}
