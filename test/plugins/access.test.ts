import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, heardOf, openTestDatabase, problemOf } from '../support/site.ts'

const database = await openTestDatabase(t)
const id = await addLicense(database, { domain: 'museum.test' })
await addLicense(database, { domain: 'protected.test', protected: true })

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'inside')
  app.post('/', async () => 'inside')
  app.get('/open', { config: { license: 'optional' } }, async () => 'inside')
}

const app = await build(t, { database, routes })

t.test('a protected license asks visitors to sign in, even where no license is needed', async t => {
  for (const url of ['/', '/open']) {
    const response = await app.inject({ url, headers: { host: 'protected.test' } })
    t.strictSame(problemOf(response), [401, 'Sign in to enter this site.'], url)
    t.equal(response.headers['www-authenticate'], 'Cookie realm="protected.test", form-action="/login"')
  }
})

t.test('a browser is redirected to sign in, with the way back in "next"', async t => {
  for (const [url, next] of [
    ['/', '%2F'],
    ['/?a=b&c=%2F/d?', '%2F%3Fa%3Db%26c%3D%252F%2Fd%3F'],
    ['/open?next=//evil.test', '%2Fopen%3Fnext%3D%2F%2Fevil.test'],
  ] as const) {
    const headers = { host: 'protected.test', accept: 'text/html,*/*;q=0.8' }
    const response = await app.inject({ url, headers })
    t.equal(response.statusCode, 302)
    t.hasStrict(response.headers, { location: `/login?next=${next}`, vary: 'Cookie, Accept' })
  }
})

t.test('HEAD is redirected to sign in, but POST gets a 401 page with a link', async t => {
  const headers = { host: 'protected.test', accept: 'text/html' }
  t.equal((await app.inject({ method: 'HEAD', url: '/', headers })).statusCode, 302)
  const response = await app.inject({ method: 'POST', url: '/', headers })
  t.equal(response.statusCode, 401)
  t.match(response.body, '<a href="/login">Sign in</a>')
  t.match(response.body, '<h1>Please sign in</h1>')
})

/** The page of a host without a license. */
async function pageOf(
  how: { url?: string; host?: string; remoteAddress?: string; headers?: Record<string, string> } = {},
) {
  const { url = '/', host = 'nobody.test', remoteAddress = '127.0.0.1', headers = {} } = how
  const response = await app.inject({ url, remoteAddress, headers: { host, accept: 'text/html', ...headers } })
  t.equal(response.statusCode, 404)
  return response.body
}

t.test('the 404 of a host without a license tells clients on this machine the commands that add one', async t => {
  for (const remoteAddress of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']) {
    const page = await pageOf({ remoteAddress })
    t.match(page, 'license-type add --type standard</code>', remoteAddress)
    t.match(page, 'license add --domain &#34;nobody.test&#34; --name &#34;My Museum&#34; --type standard</code>')
    t.match(page, 'npm run portico -- seed</code>')
  }
})

for (const [whom, how] of [
  ['another machine', { remoteAddress: '192.0.2.1' }],
  ['an IPv6 address that ends in 1', { remoteAddress: '2001:db8::1' }],
  ['a client of a proxy on this machine', { headers: { 'x-forwarded-for': '192.0.2.1' } }],
  ['a client of a proxy with Forwarded', { headers: { forwarded: 'for=192.0.2.1' } }],
  ['a client of a proxy with Via', { headers: { via: '1.1 proxy' } }],
] as const) {
  t.test(`no command is told to ${whom}`, async t => {
    t.notMatch(await pageOf(how), 'npm run')
  })
}

t.test('the 404 of a host without a license has no link that leads to another', async t => {
  for (const url of ['/', '/version']) {
    const page = await pageOf({ url })
    t.notMatch(page, '<a ', url)
    t.match(page, '<h1>Not Found</h1>')
  }
})

t.test('the 404 of a licensed host leads to the front page, and tells no command', async t => {
  const page = await pageOf({ url: '/version', host: 'museum.test' })
  t.match(page, '<a href="/">Go to the front page</a>')
  t.notMatch(page, 'npm run')
})

t.test('an unprotected license lets anybody in, until it becomes protected', async t => {
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test' } })).body, 'inside')
  await heardOf(database, () =>
    database.db.updateTable('licenses').set({ protected: true }).where('id', '=', id).execute(),
  )
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test' } })).statusCode, 401)
})
