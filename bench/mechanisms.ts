/** Compares each optimisation with the plain way, in µs of CPU. A small JSON answer takes 35 µs. */
import Fastify from 'fastify'
import Negotiator from 'negotiator'
import { errorForm } from '../src/errors/error-answer.ts'
import { renderSiteErrorPage } from '../src/errors/error-page.ts'
import { noHeaders, NotFoundHttpError } from '../src/errors/http-errors.ts'
import { sendError, sendFailure } from '../src/errors/send-error.ts'
import { normalise, normaliseHost } from '../src/http/host.ts'
import { languageRanges } from '../src/http/negotiation.ts'
import { ownText } from '../src/http/memoize.ts'
import { nameSession, SessionTokens } from '../src/sign-in/session-token.ts'
import { compareCosts } from './compare-costs.ts'

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const acceptLanguage = 'en-GB,en;q=0.9,de;q=0.8'
const types = ['application/problem+json', 'application/json', 'text/html', 'text/plain']

const tokens = new SessionTokens(['secret'])
const session = {
  userId: '1',
  session: nameSession(),
  expires: Date.now(),
  remembered: false,
  fingerprint: nameSession(),
}
const token = tokens.sign(session, 'museum.test')
const site = { name: 'The Museum', locale: 'en' }
const refusing = Fastify()
refusing.get('/without-error', (request, reply) => {
  sendFailure(404, 'No route found.', noHeaders, request, reply)
})
refusing.get('/with-error', (request, reply) => {
  sendError(new NotFoundHttpError('No route found.'), request, reply)
})

await compareCosts(
  'Accept, remembered (memoize.ts)',
  20_000,
  () => errorForm(anew(accept)),
  () => plainForm(anew(accept)),
)
await compareCosts(
  'Accept-Language, remembered (memoize.ts)',
  20_000,
  () => languageRanges(anew(acceptLanguage)),
  () => plainRanges(anew(acceptLanguage)),
)
await compareCosts(
  'A host, remembered (memoize.ts)',
  20_000,
  () => normaliseHost(anew('bench.example')),
  () => normalise(anew('bench.example')),
)
await compareCosts(
  'A session token, remembered',
  20_000,
  () => tokens.read(anew(token), 'museum.test'),
  () => tokens.verify(anew(token), 'museum.test'),
)
await compareCosts(
  'A request refused without an error (send-error.ts)',
  2000,
  async () => await refusing.inject('/without-error'),
  async () => await refusing.inject('/with-error'),
)
await compareCosts(
  "A site's error page, remembered (error-page.ts)",
  20_000,
  () => renderSiteErrorPage(404, 'No route found.', site),
  () => renderSiteErrorPage(404, 'No route found.', site, { remedy: { text: 'Go to the front page', href: '/' } }),
)
printMemory('copied (memoize.ts)', ownText)
printMemory('cut out', text => text)

/** Prints the memory of 6,000 hosts that arrived in targets of 15 KB each. */
function printMemory(name: string, keep: (text: string) => string): void {
  const rest = 'x'.repeat(15_000)
  global.gc?.()
  const before = process.memoryUsage().heapUsed
  const hosts = Array.from({ length: 6000 }, (_, number) =>
    keep(anew(`museum-${number}.example.org/${rest}`).slice(0, 20)),
  )
  global.gc?.()
  const megabytes = (process.memoryUsage().heapUsed - before) / 1e6
  console.log(`${hosts.length} hosts of long targets, ${name}`.padEnd(42), `${megabytes.toFixed(0)} MB`)
}

function plainForm(header: string): string | undefined {
  return new Negotiator({ headers: { accept: header } }).mediaType([...types])
}

function plainRanges(header: string): string[] {
  return new Negotiator({ headers: { 'accept-language': header } }).languages()
}

/** Makes a new string, as the HTTP parser does for each request. */
function anew(text: string): string {
  return Buffer.from(text).toString('latin1')
}
