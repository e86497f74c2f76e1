import { once } from 'node:events'
import { connect } from 'node:net'
import { sql } from 'kysely'
import t from 'tap'
import Fastify, { type FastifyInstance } from 'fastify'
import { type SecurityData, securityPanel } from '../../../../plugins/debug/panels/security.ts'
import profiler, { profiledOptions } from '../../../../plugins/debug/profiler/index.ts'
import { makeFolder } from '../../../folder.ts'
import { addLicense } from '../../../records.ts'
import { openTestDatabase } from '../../../test-database.ts'
import { buildDebugged, panelOf, readPanel } from './panels.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test', name: 'Louvre', languages: ['en', 'de', 'fr'] })
await addLicense(database, { domain: 'single.test', languages: ['it'] })
await addLicense(database, { domain: 'protected.test', protected: true })

async function routes (app: FastifyInstance) {
  app.get('/', async () => 'inside')
  app.get('/open', { config: { license: 'optional' } }, async () => 'inside')
  app.post('/', async () => 'posted')
}

const app = await buildDebugged(t, { database, routes })

interface Asked {
  method?: 'GET' | 'POST'
  url?: string
  headers?: Record<string, string>
}

async function checksOf ({ method = 'GET', url = '/', headers = {} }: Asked, of = app): Promise<Record<string, string>> {
  const response = await of.inject({ method, url, headers: { host: 'museum.test', ...headers } })
  const { checks } = await panelOf<SecurityData>(of, response, 'security')
  return Object.fromEntries(checks.map(({ check, verdict, reason }) => [check, `${verdict}: ${reason}`]))
}

t.test('a request that passes is told why, check by check, and in their order', async t => {
  const checks = await checksOf({})
  t.strictSame(Object.keys(checks), ['Host', 'Locale', 'Access', 'Request checker'])
  t.strictSame(checks, {
    Host: 'passed: "museum.test" is a valid host.',
    Locale: 'passed: en, the license\'s default: the request asks for none of its languages.',
    Access: 'passed: "Louvre" is open to everybody.',
    'Request checker': 'passed: GET changes nothing.'
  })
})

const locales: [what: string, asked: Asked, reason: string][] = [
  ['the query', { url: '/?_locale=de', headers: { cookie: 'locale=fr' } }, 'de, by _locale "de" of the query.'],
  ['the cookie', { url: '/?_locale=xx', headers: { cookie: 'locale=fr', 'accept-language': 'de' } }, 'fr, by the locale cookie.'],
  ['Accept-Language', { headers: { 'accept-language': 'de-AT,fr;q=0.5' } }, 'de, by Accept-Language "de-AT,fr;q=0.5".'],
  ['a license of one language', { headers: { host: 'single.test', 'accept-language': 'it' } }, 'it: the license leaves no choice.'],
  ['no license', { url: '/open', headers: { host: 'unknown.test' } }, 'en, the default: there is no license with languages of its own.']
]

for (const [what, asked, reason] of locales) {
  t.test(`a locale that was chosen by ${what} is said to be so`, async t => {
    t.equal((await checksOf(asked))['Locale'], `passed: ${reason}`)
  })
}

t.test('who has to sign in is refused by the access check, and the next was not reached', async t => {
  t.match(await checksOf({ headers: { host: 'protected.test' } }), {
    Access: 'refused: Sign in to enter this site.',
    'Request checker': 'not reached: The request was interrupted before.'
  })
})

t.test('a host without a license is refused, unless the path has no route or the route needs none', async t => {
  const headers = { host: 'unknown.test' }
  t.match(await checksOf({ headers }), { Access: 'refused: No license found for "unknown.test".' })
  t.match(await checksOf({ headers, url: '/nowhere' }), { Access: 'passed: The path has no route: it is answered as such, whatever the license.' })
  t.match(await checksOf({ headers, url: '/open' }), { Access: 'passed: "unknown.test" has no license, and the route needs none.' })
})

const posts: [what: string, headers: Record<string, string>, reason: string][] = [
  ['without a cookie', {}, 'passed: Without a cookie it acts in nobody\'s name.'],
  ['of this site', { cookie: 'a=b', 'sec-fetch-site': 'same-origin' }, 'passed: Sec-Fetch-Site "same-origin": it comes from this site.'],
  ['of this origin', { cookie: 'a=b', origin: 'http://museum.test' }, 'passed: Origin "http://museum.test" is this site.'],
  ['of no browser', { cookie: 'a=b' }, 'passed: It carries neither Sec-Fetch-Site nor Origin: it is no browser\'s.'],
  ['of another site', { cookie: 'a=b', origin: 'http://other.test' }, 'refused: This request came from another site.']
]

for (const [what, headers, reason] of posts) {
  t.test(`a POST ${what} is judged by where it comes from`, async t => {
    t.equal((await checksOf({ method: 'POST', headers }))['Request checker'], reason)
  })
}

t.test('an invalid host is refused with its reason, and hostile text makes no tag', async t => {
  const response = await app.inject({ url: '/', headers: { host: '<script>alert(1)</script>' } })
  t.match(await panelOf(app, response, 'security'), { checks: [{ check: 'Host', verdict: 'refused', reason: 'Invalid Host "<script>alert(1)</script>".' }, { verdict: 'not reached' }] })
  const html = await readPanel(app, response, 'security', 'text/html')
  t.notMatch(html, '<script>alert')
  t.match(html, /Security <span class="badge error">refused/)
  t.match(await readPanel(app, response, 'security', 'text/markdown'), '| Host | refused | Invalid Host "\\<script\\>alert(1)\\</script\\>". |')
})

t.test('a URL that cannot be decoded met no check', async t => {
  t.match(await checksOf({ url: '/%zz' }), { Host: 'not reached: The request failed before any check.' })
})

t.test('a request says where it comes from, and which proxy said so', async t => {
  const behind = await buildDebugged(t, { database, routes, environment: { TRUST_PROXY: 'loopback' } })
  const headers = { host: 'museum.test', forwarded: 'for=203.0.113.7' }
  const response = await behind.inject({ url: '/', headers })
  t.match(await panelOf(behind, response, 'security'), { user: null, ip: '203.0.113.7', by: '127.0.0.1' })
  t.match(await readPanel(behind, response, 'security', 'text/html'), /<code>203\.0\.113\.7<\/code>[^]*As told by<\/dt><dd><code>127\.0\.0\.1<\/code>/)
  t.match(await readPanel(behind, response, 'security', 'text/markdown'), 'Address: 203.0.113.7, as told by 127.0.0.1.')
  t.match(await checksOf({ headers }, behind), { 'Forwarded headers': 'passed: The Forwarded header agrees' })
  t.match(await checksOf({}, behind), { 'Forwarded headers': 'passed: The request has no Forwarded header.' })
  t.match(await checksOf({ headers: { ...headers, 'x-forwarded-for': '203.0.113.8' } }, behind), { 'Forwarded headers': 'refused: The "Forwarded" and "x-forwarded-for" headers disagree.' })
})

t.test('a check that answers the request itself has refused it', async t => {
  const app = Fastify(profiledOptions({}))
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t), panels: [securityPanel] })
  app.addHook('onRequest', function validateHost (_request, reply) { reply.redirect('/login') })
  app.get('/', async () => 'inside')
  const { checks } = await panelOf<SecurityData>(app, await app.inject('/'), 'security')
  t.match(checks, [{ check: 'Host', verdict: 'refused', reason: 'It answered the request itself.' }, { verdict: 'not reached' }])
})

t.test('a client that leaves during a check leaves it unfinished', async t => {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await addLicense(database, { domain: 'left.test' })
  await app.entities.licenses.read('left.test')
  await database.db.transaction().execute(async transaction => {
    await sql`lock table license_languages in access exclusive mode`.execute(transaction)
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    socket.write('GET /left HTTP/1.1\r\nHost: left.test\r\n\r\n')
    await once(app.server, 'request')
    socket.destroy()
    while (app.profiler.pending > 0) await new Promise(resolve => setImmediate(resolve))
  })
  const { profiles } = await app.profiler.search({ url: '/left' })
  t.match(await panelOf(app, { headers: { 'x-debug-token': profiles[0]?.token } }, 'security'), { checks: [{}, { check: 'Locale', verdict: 'not over' }] })
})
