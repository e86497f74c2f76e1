import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../build.ts'
import { addLicense } from '../records.ts'
import { openTestDatabase } from '../test-database.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'inner.test' })
await addLicense(database, { domain: 'outer.test' })

async function routes (app: FastifyInstance) {
  app.get('/', async ({ domain, ip, protocol }) => ({ domain, ip, protocol }))
  app.get('/slash/', async () => 'ok')
}

const behindProxy = await build(t, { database, routes, environment: { TRUST_PROXY: '10.0.0.0/8' } })
const withoutProxy = await build(t, { database, routes })

async function ask (headers: Record<string, string | string[]>, { app = behindProxy, url = '/', from = '10.1.2.3' } = {}) {
  return await app.inject({ url, remoteAddress: from, headers: { host: 'inner.test', ...headers } })
}

t.test('X-Forwarded-* headers of a trusted proxy count', async t => {
  const response = await ask({ 'x-forwarded-host': 'Outer.test:443', 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' })
  t.same(response.json(), { domain: 'outer.test', ip: '192.0.2.7', protocol: 'https' })
})

t.test('so does its Forwarded header', async t => {
  const response = await ask({ forwarded: 'for="[2001:db8::7]:4711";host="outer.test:443";proto=https;by=10.1.2.3' })
  t.same(response.json(), { domain: 'outer.test', ip: '2001:db8::7', protocol: 'https' })
})

t.test('of several proxies the nearest says the host and the protocol', async t => {
  const response = await ask({ forwarded: ['for=192.0.2.7;host=a.test;proto=http', 'for="10.0.0.9:80";host=outer.test;proto=https'] })
  t.same(response.json(), { domain: 'outer.test', ip: '192.0.2.7', protocol: 'https' })
})

for (const headers of [
  { 'x-forwarded-host': 'outer.test', 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' },
  { forwarded: 'for=192.0.2.7;host=outer.test;proto=https' },
  { forwarded: 'garbage;;;' },
  { forwarded: 'host=a.test', 'x-forwarded-host': 'outer.test' }
]) {
  t.test(`${JSON.stringify(headers)} of an untrusted peer does not count`, async t => {
    const response = await ask(headers, { from: '203.0.113.5' })
    t.same(response.json(), { domain: 'inner.test', ip: '203.0.113.5', protocol: 'http' })
  })

  t.test(`${JSON.stringify(headers)} does not count where no proxy is trusted`, async t => {
    const response = await ask(headers, { app: withoutProxy })
    t.same(response.json(), { domain: 'inner.test', ip: '10.1.2.3', protocol: 'http' })
  })
}

t.test('Forwarded and X-Forwarded-* that say the same in other words agree', async t => {
  const response = await ask({
    forwarded: 'for="192.0.2.7:4711", for="[2001:DB8::7]";host=OUTER.test;proto=HTTPS',
    'x-forwarded-for': '192.0.2.7,2001:db8::7',
    'x-forwarded-host': 'outer.test',
    'x-forwarded-proto': 'https'
  })
  t.equal(response.statusCode, 200)
})

for (const headers of [
  { forwarded: 'host=outer.test', 'x-forwarded-host': 'inner.test' },
  { forwarded: 'proto=https', 'x-forwarded-proto': 'http' },
  { forwarded: 'for=192.0.2.7', 'x-forwarded-for': '192.0.2.8' }
]) {
  t.test(`${JSON.stringify(headers)} disagree`, async t => {
    const response = await ask(headers)
    t.equal(response.statusCode, 400)
    t.match(response.json().detail, /^The "Forwarded" and "x-forwarded-\w+" headers disagree\.$/)
  })
}

for (const forwarded of ['host', 'host=', 'host="a', ';;', 'host=a=b', '\u0000']) {
  t.test(`the Forwarded header ${JSON.stringify(forwarded)} is malformed`, async t => {
    const response = await ask({ forwarded })
    t.equal(response.statusCode, 400)
    t.equal(response.json().detail, 'The "Forwarded" header is malformed.')
  })
}

for (const protocol of ['javascript', 'evil://x/', 'HTTPS', 'https, ftp']) {
  t.test(`the forwarded protocol ${protocol} is invalid`, async t => {
    const response = await ask({ 'x-forwarded-proto': protocol }, { url: '/slash' })
    t.equal(response.statusCode, 400)
    t.match(response.json().detail, /^Invalid forwarded protocol/)
  })
}

t.test('an invalid forwarded host is as invalid as any', async t => {
  const response = await ask({ 'x-forwarded-host': 'foo bar' })
  t.equal(response.statusCode, 400)
  t.equal(response.json().detail, 'Invalid Host "foo bar".')
})

t.test('a redirect goes to the forwarded host and protocol', async t => {
  const response = await ask({ forwarded: 'host=outer.test;proto=https' }, { url: '/slash' })
  t.equal(response.headers.location, 'https://outer.test/slash/')
})
