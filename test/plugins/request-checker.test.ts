import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, openTestDatabase, problemOf } from '../support/site.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })

async function routes(app: FastifyInstance) {
  app.post('/', async () => 'done')
  app.get('/', async () => 'read')
}

const app = await build(t, { database, routes })
const cookie = 'locale=en'

async function post(headers: Record<string, string>) {
  return await app.inject({ method: 'POST', url: '/', headers: { host: 'museum.test:8080', ...headers } })
}

for (const headers of [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'garbage' },
  { 'sec-fetch-site': 'cross-site', origin: 'http://museum.test:8080' },
  { origin: 'http://evil.test' },
  { origin: 'http://museum.test:9090' },
  { origin: 'http://museum.test:8080.evil.test' },
  { origin: 'null' },
  { origin: '"><script>' },
]) {
  t.test(`a POST with a cookie and ${JSON.stringify(headers)} is refused as cross-site`, async t => {
    t.strictSame(problemOf(await post({ cookie, ...headers })), [403, 'This request came from another site.'])
  })

  t.test(`a POST with ${JSON.stringify(headers)} and no cookie is accepted`, async t => {
    t.equal((await post(headers)).body, 'done')
  })
}

for (const headers of [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { origin: 'http://museum.test:8080' },
  { origin: 'https://MUSEUM.test:8080' },
]) {
  t.test(`a POST with a cookie and ${JSON.stringify(headers)} is accepted`, async t => {
    t.equal((await post({ cookie, ...headers })).body, 'done')
  })
}

t.test('an origin matches the host whether or not the default port is written', async t => {
  for (const [host, origin, statusCode] of [
    ['museum.test:443', 'https://museum.test', 200],
    ['museum.test:80', 'http://museum.test', 200],
    ['museum.test', 'https://museum.test', 200],
    ['museum.test:443', 'http://museum.test', 403],
    ['museum.test:8080', 'http://museum.test', 403],
    ['museum.test:99999', 'http://museum.test', 403],
  ] as const) {
    const response = await app.inject({ method: 'POST', url: '/', headers: { host, cookie, origin } })
    t.equal(response.statusCode, statusCode, `${origin} at ${host}`)
  }
})

t.test('a GET from another site is accepted', async t => {
  const headers = { host: 'museum.test', cookie, 'sec-fetch-site': 'cross-site' }
  t.equal((await app.inject({ url: '/', headers })).body, 'read')
})

t.test('a method override that is no word is malformed', async t => {
  for (const override of ['', 'PUT;DROP', 'P U T', '<script>', 'PUT\u00e9', '123']) {
    const response = await post({ 'x-http-method-override': override })
    t.strictSame(problemOf(response), [400, `Invalid method override "${override}".`])
  }
})

t.test('a well-formed method override changes nothing', async t => {
  t.equal((await post({ 'x-http-method-override': 'put' })).body, 'done')
})
