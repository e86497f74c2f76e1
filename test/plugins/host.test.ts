import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, heardOf, openTestDatabase } from '../support/site.ts'
import { sendBytes } from '../support/send-bytes.ts'

const database = await openTestDatabase(t)
await database.db.deleteFrom('licenses').execute()
await addLicense(database, { domain: 'museum.test', name: 'The Museum' })
await addLicense(database, { domain: '[::1]', name: 'The Address' })
await addLicense(database, { domain: 'a.', name: 'The Dot' })
await addLicense(database, { domain: 'typeless.test', type: null })
await addLicense(database, { domain: 'twice.test', type: null })
await addLicense(database, { domain: 'twice.test', name: 'The First', type: 'one' })
await addLicense(database, { domain: 'twice.test', name: 'The Second', type: 'two' })

async function routes(app: FastifyInstance) {
  app.get('/', async ({ domain, license }) => ({ domain, license: license?.name, type: license?.type }))
  app.get('/open', { config: { license: 'optional' } }, async ({ domain, license }) => ({ domain, license }))
  app.get('/needs', { config: { license: 'optional' } }, async request => request.requireLicense())
}

const app = await build(t, { database, routes })

/** Hosts and the domains by which their licenses are looked up. */
const valid: Record<string, string> = {
  'MUSEUM.Test': 'museum.test',
  'museum.test:3000': 'museum.test',
  'museum.test:0': 'museum.test',
  'museum.test:99999999': 'museum.test',
  ' \tmuseum.test:80 \t': 'museum.test',
  'museum.test.:80': 'museum.test.',
  '12:80': '12',
  '127.0.0.1:80': '127.0.0.1',
  '[::1]:80': '[::1]',
  '[2001:DB8::A]': '[2001:db8::a]',
  '[::ffff:1.2.3.4]:443': '[::ffff:1.2.3.4]',
  // A host of 300 bytes is valid, as in Symfony.
  [`${'a'.repeat(295)}.test`]: `${'a'.repeat(295)}.test`,
  ...Object.fromEntries(
    'museum.test www.museum.test muse_m.test [::1] a. localhost a foo_bar -a-.b nobody.test xn--bcher-kva.test 12 1a.2b 1.2.3.4.test 10.0.0.1'
      .split(' ')
      .map(host => [host, host]),
  ),
}
const licensed = ['museum.test', '[::1]', 'a.']

for (const [host, domain] of Object.entries(valid)) {
  t.test(`Host: ${JSON.stringify(host).slice(0, 60)} gets the license of ${domain.slice(0, 60)}, if any`, async t => {
    const response = await app.inject({ url: '/', headers: { host } })
    if (licensed.includes(domain)) t.match(response.json(), { domain, license: /^The / })
    else t.match(response.json(), { status: 404, detail: `No license found for "${domain}".` })
  })
}

const invalid = [
  ...[' ', '\t', 'a b', 'foo bar:80', 'a, b', 'a: 80', 'a :80', 'a\0b', 'a\n', 'a\r\nb', '\vmuseum.test', '\ud800'],
  ...['\u00a0museum.test', 'museum.test\u00a0', '\ufeffmuseum.test', 'museum.te\u0073\u0301t', "';drop table a;--"],
  ...':80 . .. .a a.. a..b a/b a\\b a@b a<b a,b a?b a#b a%41 a"b a: a:b a:80: a:80:80 a:-1 "><script>'.split(' '),
  ...'::1 [::1 ::1] [] []:80 [a] [:::1] [1.2.3.4] [::1]a a[::1] [::1].a [::1%eth0] [[::1]] [::1]:'.split(' '),
  ...'[1:2:3:4:5:6:7:8:9] [::1.2.3.400] 1.2.3 1.2.3.4.5 1.2.3.256 1.2.3.4. 01.2.3.4 museum.1 museum.0x.1'.split(' '),
  ...'münchen.test \u212Aelvin.test museum。test ١.test 💥'.split(' '),
]

for (const host of invalid) {
  t.test(`Host: ${JSON.stringify(host)} is invalid`, async t => {
    const response = await app.inject({ url: '/', headers: { host } })
    t.equal(response.statusCode, 400)
    t.match(response.json().detail, /^Invalid Host ".*"\.$/s)
  })
}

/** Requests, and what their answers have. */
const answered: Record<string, [url: string, headers: Record<string, string>, answer: object]> = {
  'an invalid host is escaped in the page that says so': [
    '/',
    { host: '<script>alert(1)</script>', accept: 'text/html' },
    { statusCode: 400, body: '&#60;script&#62;' },
  ],
  'an invalid host is reported before a missing route': ['/version', { host: 'foo bar' }, { statusCode: 400 }],
  'a license whose type is missing is not served': ['/', { host: 'typeless.test' }, { statusCode: 404 }],
  'of the licenses with a type and the same domain, the one with the lowest id answers': [
    '/',
    { host: 'twice.test' },
    { body: '{"domain":"twice.test","license":"The First","type":"one"}' },
  ],
  'a route with an optional license also answers hosts without one': [
    '/open',
    { host: 'nobody.test' },
    { statusCode: 200, body: '{"domain":"nobody.test","license":null}' },
  ],
  'a route with an optional license may still require it': [
    '/needs',
    { host: 'nobody.test' },
    { statusCode: 404, body: 'No license found for \\"nobody.test\\".' },
  ],
}

for (const [title, [url, headers, answer]] of Object.entries(answered)) {
  t.test(title, async t => {
    const response = await app.inject({ url, headers })
    t.match(response, answer)
    t.notMatch(response.body, '<script>')
  })
}

t.test('adding, changing or removing a license or its type takes effect on the next request', async t => {
  const ask = async () => (await app.inject({ url: '/', headers: { host: 'changing.test' } })).json()
  t.match(await ask(), { status: 404 })
  const license = { domain: 'changing.test', name: 'Before', type: 'old' }
  await heardOf(database, () => addLicense(database, license))
  t.match(await ask(), { license: 'Before', type: 'old' })
  const { db } = database
  for (const [change, answer] of [
    [db.updateTable('licenses').set({ name: 'After' }).where('domain', '=', license.domain), { license: 'After' }],
    [db.updateTable('license_types').set({ type: 'new' }).where('type', '=', 'old'), { type: 'new' }],
    [db.deleteFrom('licenses').where('domain', '=', license.domain), { status: 404 }],
  ] as const) {
    await heardOf(database, () => change.execute())
    t.match(await ask(), answer)
  }
})

t.test('a failed query is an internal error without details, and is retried', async t => {
  await database.db.schema.alterTable('licenses').renameTo('hidden').execute()
  const response = await app.inject({ url: '/', headers: { host: 'unread.test' } })
  t.equal(response.statusCode, 500)
  t.same(response.json(), {
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    detail: 'Internal Server Error',
  })
  await database.db.schema.alterTable('hidden').renameTo('licenses').execute()
  t.equal((await app.inject({ url: '/', headers: { host: 'unread.test' } })).statusCode, 404)
})

t.test('over a connection', async t => {
  const listening = await build(t, { database, routes })
  const address = await listening.listen({ port: 0 })

  for (const [what, lines, answer] of [
    [
      'two Host headers are refused',
      'GET / HTTP/1.1\r\nHost: museum.test\r\nHost: twice.test\r\n',
      /^HTTP\/1\.1 400 [^]*Invalid Host \\"museum\.test, twice\.test\\"\./,
    ],
    ['a missing Host is refused', 'GET / HTTP/1.1\r\n', /^HTTP\/1\.1 400 [^]*Invalid Host \\"\\"\./],
    ['an empty Host is refused', 'GET / HTTP/1.1\r\nHost:\r\n', 'Invalid Host \\"\\".'],
    [
      'the authority of an absolute-form target replaces the Host header',
      'GET http://twice.test/ HTTP/1.1\r\nHost: museum.test\r\n',
      '"license":"The First"',
    ],
    [
      'an absolute-form target needs no Host header',
      'GET HTTP://MUSEUM.TEST:80/ HTTP/1.0\r\n',
      '"license":"The Museum"',
    ],
    [
      'an absolute-form target with an invalid authority is refused',
      'GET http://user@museum.test/ HTTP/1.1\r\nHost: museum.test\r\n',
      'Invalid Host \\"user@museum.test\\".',
    ],
    ['a Host with bytes outside ASCII is refused', 'GET / HTTP/1.1\r\nHost: m\u00fcseum.test\r\n', /^HTTP\/1\.1 400 /],
  ] as const) {
    t.test(what, async t => {
      t.match(await sendBytes(address, lines), answer)
    })
  }
})
