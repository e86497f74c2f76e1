import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, openTestDatabase, problemOf } from '../support/site.ts'
import { keepLog } from '../support/log.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'inner.test' })
await addLicense(database, { domain: 'outer.test' })

async function routes(app: FastifyInstance) {
  app.get('/', async ({ domain, ip, protocol }) => ({ domain, ip, protocol }))
  app.get('/slash/', async () => 'ok')
}

const behindProxy = await build(t, { database, routes, environment: { TRUST_PROXY: '10.0.0.0/8' } })
const withoutProxy = await build(t, { database, routes })

async function ask(
  headers: Record<string, string | string[]>,
  { app = behindProxy, url = '/', from = '10.1.2.3' } = {},
) {
  return await app.inject({ url, remoteAddress: from, headers: { host: 'inner.test', ...headers } })
}

t.test('the X-Forwarded-* headers of a trusted proxy take effect', async t => {
  const response = await ask({
    'x-forwarded-host': 'Outer.test:443',
    'x-forwarded-for': '192.0.2.7',
    'x-forwarded-proto': 'https',
  })
  t.same(response.json(), { domain: 'outer.test', ip: '192.0.2.7', protocol: 'https' })
})

t.test('the Forwarded header of a trusted proxy takes effect', async t => {
  const response = await ask({ forwarded: 'for="[2001:db8::7]:4711";host="outer.test:443";proto=https;by=10.1.2.3' })
  t.same(response.json(), { domain: 'outer.test', ip: '2001:db8::7', protocol: 'https' })
})

t.test('the nearest of several proxies decides the host and the protocol', async t => {
  const response = await ask({
    forwarded: ['for=192.0.2.7;host=a.test;proto=http', 'for="10.0.0.9:80";host=outer.test;proto=https'],
  })
  t.same(response.json(), { domain: 'outer.test', ip: '192.0.2.7', protocol: 'https' })
})

for (const headers of [
  { 'x-forwarded-host': 'outer.test', 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' },
  { forwarded: 'for=192.0.2.7;host=outer.test;proto=https' },
  { forwarded: 'garbage;;;' },
  { forwarded: 'host=a.test', 'x-forwarded-host': 'outer.test' },
]) {
  t.test(`${JSON.stringify(headers)} from an untrusted peer has no effect`, async t => {
    const response = await ask(headers, { from: '203.0.113.5' })
    t.same(response.json(), { domain: 'inner.test', ip: '203.0.113.5', protocol: 'http' })
  })

  t.test(`${JSON.stringify(headers)} has no effect if no proxy is trusted`, async t => {
    const response = await ask(headers, { app: withoutProxy })
    t.same(response.json(), { domain: 'inner.test', ip: '10.1.2.3', protocol: 'http' })
  })
}

t.test('Forwarded and X-Forwarded-* agree if they say the same in another notation', async t => {
  const response = await ask({
    forwarded: 'for="192.0.2.7:4711", for="[2001:DB8::7]";host=OUTER.test;proto=HTTPS',
    'x-forwarded-for': '192.0.2.7,2001:db8::7',
    'x-forwarded-host': 'outer.test',
    'x-forwarded-proto': 'https',
  })
  t.equal(response.statusCode, 200)
})

for (const headers of [
  { forwarded: 'host=outer.test', 'x-forwarded-host': 'inner.test' },
  { forwarded: 'proto=https', 'x-forwarded-proto': 'http' },
  { forwarded: 'for=192.0.2.7', 'x-forwarded-for': '192.0.2.8' },
]) {
  t.test(`${JSON.stringify(headers)} is refused as contradictory`, async t => {
    t.match(problemOf(await ask(headers)), [400, /^The "Forwarded" and "x-forwarded-\w+" headers disagree\.$/])
  })
}

for (const forwarded of [
  ...['host', 'host="a', 'host=a=b', '\u0000', '=a', 'host="a"b', 'host ="a"', 'host=a.test;Host=b.test'],
  ...['for="192.0.2.7, 192.0.2.8"', `host${' '.repeat(15_000)}x`, 'for="\\'.repeat(3000)],
]) {
  t.test(`the Forwarded header ${JSON.stringify(forwarded).slice(0, 60)} is malformed`, async t => {
    t.strictSame(problemOf(await ask({ forwarded })), [400, 'The "Forwarded" header is malformed.'])
  })
}

t.test('a forwarded protocol other than http and https is invalid', async t => {
  for (const protocol of ['javascript', 'https, ftp', 'httpſ']) {
    const response = await ask({ 'x-forwarded-proto': protocol }, { url: '/slash' })
    t.match(problemOf(response), [400, /^Invalid forwarded protocol/], protocol)
  }
})

const v6 = '2001:db8::7'

for (const [written, ip] of [
  ['192.0.2.7:4711', '192.0.2.7'],
  ['[2001:db8::7]:443', v6],
  ['"2001:db8::7"', v6],
  ['[fe80::7%11]:443', 'fe80::7%11'],
  [', ,192.0.2.7:1 ,, ', '192.0.2.7'],
  [['198.51.100.1', '192.0.2.7:4711', '10.0.0.9:80'], '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['unknown', 'unknown'],
  ['_hidden.-1:_2', '_hidden.-1'],
  ['', '10.1.2.3'],
  ['[2001:db8::7', '[2001:db8::7'],
  [`192.0.2.7${' '.repeat(15_000)}x`, `192.0.2.7${' '.repeat(15_000)}x`],
] as const) {
  t.test(
    `X-Forwarded-For ${JSON.stringify(written).slice(0, 60)} names ${JSON.stringify(ip).slice(0, 40)}`,
    async t => {
      const response = await ask({ 'x-forwarded-for': typeof written === 'string' ? written : [...written] })
      t.equal(response.statusCode, 200)
      t.equal(response.json().ip, ip)
    },
  )
}

const direct = { domain: 'inner.test', ip: '10.1.2.3', protocol: 'http' }

for (const [headers, expected] of [
  [{ 'x-forwarded-proto': 'ftp, Https ,' }, { protocol: 'https' }],
  [{ 'x-forwarded-host': 'a.test, Outer.test:8443, ,' }, { domain: 'outer.test' }],
  [{ 'x-forwarded-host': ['a.test', 'outer.test'] }, { domain: 'outer.test' }],
  [{ forwarded: '' }, {}],
  [{ forwarded: ', for=192.0.2.7; ;proto=https; ,' }, { ip: '192.0.2.7', protocol: 'https' }],
  [
    { forwarded: 'For=192.0.2.7:4711; PROTO=HTTPS; Host=outer.test:443' },
    { ip: '192.0.2.7', protocol: 'https', domain: 'outer.test' },
  ],
  [{ forwarded: 'for="\\[2001:db8::7]";host="outer\\.test"' }, { ip: v6, domain: 'outer.test' }],
  [{ forwarded: 'for="_hidden:_1"' }, { ip: '_hidden' }],
  [{ forwarded: 'for=192.0.2.7;secret="a,b;c=\\"d";__proto__=x' }, { ip: '192.0.2.7' }],
  [{ forwarded: 'for="192.0.2.7:1"', 'x-forwarded-for': '192.0.2.7:2' }, { ip: '192.0.2.7' }],
  [{ forwarded: 'host=outer.test', 'x-forwarded-host': 'a.test, outer.test' }, { domain: 'outer.test' }],
  [{ 'x-forwarded-proto': 'wss' }, { protocol: 'https' }],
  [{ forwarded: 'for="[::ffff:192.0.2.7]"', 'x-forwarded-for': '192.0.2.7' }, { ip: '192.0.2.7' }],
] as const) {
  t.test(`${JSON.stringify(headers)} is read as ${JSON.stringify(expected)}`, async t => {
    const lines = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]])
    const response = await ask(Object.fromEntries(lines))
    t.same(response.json(), { ...direct, ...expected })
  })
}

t.test('the log shows the forwarded address of the client', async t => {
  const { logger, records } = keepLog()
  const app = await build(t, { database, routes, logger, environment: { TRUST_PROXY: '10.0.0.0/8' } })
  await ask({ 'x-forwarded-for': '192.0.2.7:4711' }, { app })
  await ask({ forwarded: 'for=192.0.2.8' }, { app, url: '/slash' })
  const addresses = records().flatMap(({ req }) => req?.remoteAddress ?? [])
  t.strictSame([...new Set(addresses)], ['192.0.2.7', '192.0.2.8'])
})

t.test('forwarded headers leave the target unchanged', async t => {
  const response = await ask({ forwarded: 'host=outer.test' }, { url: '/a%2Eb%2f?c' })
  t.match(response.json().detail, 'No route found for "GET /a%2Eb%2f"')
})

t.test('an invalid forwarded host is refused like any invalid host', async t => {
  t.strictSame(problemOf(await ask({ 'x-forwarded-host': 'foo bar' })), [400, 'Invalid Host "foo bar".'])
})

t.test('a forwarded host in UTF-8 is repeated as it was sent', async t => {
  const bytes = Buffer.from('É.TEST').toString('latin1')
  for (const headers of [{ 'x-forwarded-host': bytes }, { forwarded: `host="${bytes}"` }]) {
    t.strictSame(problemOf(await ask(headers)), [400, 'Invalid Host "É.test".'])
  }
})

t.test('a redirect goes to the forwarded host and protocol', async t => {
  const response = await ask({ forwarded: 'host=outer.test;proto=https' }, { url: '/slash' })
  t.equal(response.headers.location, 'https://outer.test/slash/')
})
