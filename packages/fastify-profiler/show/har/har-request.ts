import { attempt } from '../../base/foreign-value.ts'
import type { HeaderLine, Json, Profile } from '../../base/profile.ts'
import { urlPart } from '../parts/profile-url.ts'
import { requestTarget } from '../parts/request-url.ts'
import { sentBody, sentPairs, sentText } from '../parts/sent-body.ts'
import { sentHost } from '../parts/sent-host.ts'

/** What RFC 3986 allows neither in a path nor in a query. */
const invalid = /%(?![\da-f]{2})|[^\w\-.~:/?@!$&'()*+,;=%]/giu

/** The request of an entry. */
export function harRequest(profile: Profile) {
  const { httpVersion, method, request } = profile
  const body = postData(profile)
  return {
    method,
    url: validUrl(profile),
    httpVersion: `HTTP/${httpVersion}`,
    cookies: pairs(Object.entries(request.cookies)),
    headers: pairs(request.headers),
    queryString: pairs(sentPairs(request.query)),
    ...(body !== null && { postData: body }),
    headersSize: -1,
    bodySize: request.bodySize ?? 0,
  }
}

export function pairs(lines: ReadonlyArray<HeaderLine>) {
  return lines.map(([name, value]) => ({ name, value }))
}

/** The whole URL. A host that no URL can have is "host.invalid" (RFC 2606); the headers have it as it was sent. */
function validUrl(profile: Profile): string {
  const sent = `${profile.protocol}://${sentHost(profile) ?? 'localhost'}`
  const origin = attempt(() => new URL(sent).origin, `${profile.protocol}://host.invalid`)
  return origin + requestTarget(profile).replace(invalid, urlPart)
}

/** The body as it was parsed: fields of a form, or text. */
function postData({ request }: Profile) {
  const body = sentBody(request)
  if (body === null) return null
  const mimeType = request.contentType ?? ''
  const comment = 'As parsed: masked and shortened.'
  if (body.form === 'text') return { mimeType, text: body.text, comment }
  const params = body.form === 'urlencoded' ? pairs(sentPairs(body.fields)) : partsOf(body.fields)
  return { mimeType, params, comment }
}

/** The parts of a multipart form. The contents of files are not recorded. */
function partsOf(fields: Record<string, Json>) {
  return Object.entries(fields).flatMap(([name, value]) => [value].flat().map(part => partOf(name, part)))
}

function partOf(name: string, part: Json) {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return { name, value: sentText(part) }
  const { filename, mimetype, value } = part
  return {
    name,
    ...(typeof filename === 'string' ? { fileName: filename } : { value: sentText(value ?? part) }),
    ...(typeof mimetype === 'string' && { contentType: mimetype }),
  }
}
