import { headerOf } from '../../core/collect.ts'
import { STATUS_CODES } from 'node:http'
import { attempt } from '../../core/foreign-value.ts'
import { packageVersion } from '../../core/package-version.ts'
import { type HeaderLine, type Profile, toMicroseconds } from '../../core/profile.ts'
import { outcomeText } from '../../core/view/elements.ts'
import { urlPart } from '../../core/urls.ts'
import { requestTarget, sentBody, sentHost, sentPairs } from '../request/sent-request.ts'
import { sliceTime, timeByKind } from '../performance/exclusive-time.ts'

/** What RFC 3986 allows neither in a path nor in a query. */
const invalid = /%(?![\da-f]{2})|[^\w\-.~:/?@!$&'()*+,;=%]/giu

function harRequest(profile: Profile) {
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

function pairs(lines: ReadonlyArray<HeaderLine>) {
  return lines.map(([name, value]) => ({ name, value }))
}

/** The whole URL. A host that no URL can have is "host.invalid" (RFC 2606); the headers have it as it was sent. */
function validUrl(profile: Profile): string {
  const sent = `${profile.protocol}://${sentHost(profile) ?? 'localhost'}`
  const origin = attempt(() => new URL(sent).origin, `${profile.protocol}://host.invalid`)
  return origin + requestTarget(profile).replace(invalid, urlPart)
}

function postData({ request }: Profile) {
  const body = sentBody(request)
  if (body === null) return null
  const mimeType = request.contentType ?? ''
  const comment = 'As parsed: masked and shortened.'
  if (body.form === 'text') return { mimeType, text: body.text, comment }
  return { mimeType, params: pairs(sentPairs(body.fields)), comment }
}

/** The response of an entry. Its status is 0 if the client left before one was sent. */
function harResponse({ httpVersion, response, status }: Profile) {
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

/**
 * A profile as an HTTP Archive 1.2 (http://www.softwareishard.com/blog/har-12-spec/) with one entry. Times are
 * milliseconds, sizes bytes; -1 stands for what the server cannot know.
 */
export function harOf(profile: Profile) {
  return {
    log: {
      version: '1.2',
      creator: { name: 'fastify-profiler', version: packageVersion },
      entries: [
        {
          startedDateTime: new Date(profile.time).toISOString(),
          time: profile.duration,
          request: harRequest(profile),
          response: harResponse(profile),
          cache: {},
          timings: timingsOf(profile),
          comment: [`Profile ${profile.token}`, outcomeText(profile.outcome)].filter(part => part !== null).join('. '),
        },
      ],
      comment: 'Recorded by the server. Secrets are masked, and bodies of responses are not recorded.',
    },
  }
}

/** What the client waited for: sending its body, the server, and receiving the response. They add up to `time`. */
function timingsOf(profile: Profile) {
  const times = new Map(timeByKind(sliceTime(profile)))
  const send = toMicroseconds(times.get('reading') ?? 0)
  const receive = toMicroseconds(times.get('sending') ?? 0)
  const wait = toMicroseconds(profile.duration - send - receive)
  return { blocked: -1, dns: -1, connect: -1, ssl: -1, send, wait, receive }
}
