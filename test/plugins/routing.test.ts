import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../support/build.ts'
import { addLicense } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })
await addLicense(database, { domain: 'protected.test', protected: true })

async function routes(app: FastifyInstance) {
  const answer = async () => 'ok'
  app.put('/things', answer)
  app.get('/things', answer)
  app.get('/slash/', answer)
  app.get('/plain', answer)
  app.get('/things/:id', answer)
  app.delete('/things/:id', answer)
  app.route({ method: ['GET', 'HEAD'], url: '/headed', handler: answer })
  app.head('/head-only', answer)
  app.get('/apart', { exposeHeadRoute: false }, answer)
  app.head('/apart', answer)
  app.post('/posted/', answer)
  app.get('/constrained', { constraints: { host: 'elsewhere.test' } }, answer)
  app.get('/constrained', { constraints: { host: 'farther.test' } }, answer)
  app.get('/missing', async (_request, reply) => reply.callNotFound())
}

const app = await build(t, { database, routes, environment: { DEBUG: '1' } })
const withoutDebug = await build(t, { database, routes })
const headers = { host: 'museum.test' }

t.test('a path without a route is a 404, whose cause names the trailing-slash form', async t => {
  const response = await app.inject({ url: '/version', headers })
  t.equal(response.statusCode, 404)
  t.match(response.headers['content-type'], 'application/problem+json')
  t.match(response.json(), {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'No route found for "GET /version"',
    exceptions: [
      { class: 'NotFoundHttpError', message: 'No route found for "GET /version"', relation: 'thrown' },
      { class: 'RouteResourceNotFoundError', message: 'No routes found for "/version/"', relation: 'cause' },
    ],
  })
})

for (const [method, url, message] of [
  ['GET', '/portal/backend/info.php', 'No route found for "GET /portal/backend/info.php"'],
  ['POST', '/version', 'No route found for "POST /version"'],
  ['DELETE', '/version/', 'No route found for "DELETE /version/"'],
  ['OPTIONS', '/version', 'No route found for "OPTIONS /version"'],
  ['GET', '/version?a=b', 'No route found for "GET /version"'],
  ['GET', '/a%20b%2Fc', 'No route found for "GET /a%20b%2Fc"'],
  ['GET', '/double%252Fencoded', 'No route found for "GET /double%252Fencoded"'],
  ['GET', '/nul%00', 'No route found for "GET /nul%00"'],
] as const) {
  t.test(`${method} ${url} is a 404 that names the raw path`, async t => {
    const response = await app.inject({ method, url, headers })
    t.equal(response.statusCode, 404)
    t.equal(response.json().detail, message)
  })
}

t.test('a path that ends in a slash is its own trailing-slash form', async t => {
  const response = await app.inject({ url: '/version/', headers })
  t.equal(response.json().exceptions[1].message, 'No routes found for "/version/"')
})

t.test('the referer is added to the message of a 404', async t => {
  const response = await app.inject({ url: '/version', headers: { ...headers, referer: 'http://a.test/x' } })
  t.equal(response.json().detail, 'No route found for "GET /version" (from "http://a.test/x")')
})

t.test('an empty referer is not added to the message', async t => {
  const response = await app.inject({ url: '/version', headers: { ...headers, referer: '' } })
  t.equal(response.json().detail, 'No route found for "GET /version"')
})

for (const referer of ['"><script>alert(1)</script>', "' onmouseover=alert(1) '", '</title><h1>x', '&quot;&lt;']) {
  t.test(`the referer ${referer} is escaped in the page`, async t => {
    const response = await withoutDebug.inject({
      url: '/version',
      headers: { ...headers, referer, accept: 'text/html' },
    })
    t.equal(response.statusCode, 404)
    const shown = referer.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
    t.match(response.body, `(from &#34;${shown}&#34;)`)
    t.notMatch(response.body, referer)
  })
}

t.test('a missing route is reported even on a host without a license', async t => {
  const response = await app.inject({ url: '/version', headers: { host: 'nobody.test' } })
  t.equal(response.json().detail, 'No route found for "GET /version"')
})

t.test('a missing route is reported even on a protected site', async t => {
  const response = await app.inject({ url: '/version', headers: { host: 'protected.test' } })
  t.equal(response.json().detail, 'No route found for "GET /version"')
})

t.test("a method that a path's routes lack is a 405, and Allow lists theirs in the order of registration", async t => {
  const response = await app.inject({
    method: 'POST',
    url: '/things',
    headers: { ...headers, referer: 'http://a.test/' },
  })
  t.equal(response.statusCode, 405)
  t.equal(response.headers['allow'], 'PUT, GET')
  t.equal(response.json().detail, 'No route found for "POST /things": Method Not Allowed (Allow: PUT, GET)')
  t.equal(response.json().exceptions[0].class, 'MethodNotAllowedHttpError')
})

t.test('Allow lists HEAD only if a route declares it', async t => {
  const response = await app.inject({ method: 'PUT', url: '/headed', headers })
  t.equal(response.headers['allow'], 'GET, HEAD')
})

t.test('Allow lists a HEAD route that is declared on its own', async t => {
  t.equal((await app.inject({ method: 'POST', url: '/head-only', headers })).headers['allow'], 'HEAD')
  t.equal((await app.inject({ method: 'POST', url: '/apart', headers })).headers['allow'], 'GET, HEAD')
})

t.test('the methods of a parametric route are found by a path that matches it', async t => {
  const response = await app.inject({ method: 'PATCH', url: '/things/a%20b', headers })
  t.equal(response.headers['allow'], 'GET, DELETE')
})

t.test('OPTIONS is treated like any other method', async t => {
  const response = await app.inject({ method: 'OPTIONS', url: '/things', headers })
  t.equal(response.statusCode, 405)
})

t.test('a path that has the method only under other constraints is a 404', async t => {
  const response = await app.inject({ url: '/constrained', headers })
  t.equal(response.statusCode, 404)
})

t.test('GET is permanently redirected to the other slash form, with its raw query', async t => {
  const response = await app.inject({ url: '/slash?a=%20b&c', headers: { host: 'museum.test:8080' } })
  t.equal(response.statusCode, 301)
  t.equal(response.headers.location, 'http://museum.test:8080/slash/?a=%20b&c')
  t.equal(response.body, '')
})

t.test('GET is redirected to the path without an extra trailing slash', async t => {
  const response = await app.inject({ url: '/plain/', headers })
  t.equal(response.statusCode, 301)
  t.equal(response.headers.location, 'http://museum.test/plain')
})

t.test('HEAD is redirected to the other slash form too', async t => {
  const response = await app.inject({ method: 'HEAD', url: '/slash', headers })
  t.equal(response.statusCode, 301)
})

for (const method of ['POST', 'PUT', 'DELETE'] as const) {
  t.test(`${method} is never redirected to the other slash form`, async t => {
    const response = await app.inject({ method, url: '/slash', headers })
    t.equal(response.statusCode, 404)
  })
}

t.test('GET is not redirected to a slash form that only has other methods', async t => {
  const response = await app.inject({ url: '/posted', headers })
  t.equal(response.statusCode, 404)
})

t.test('HEAD is answered by a GET route, without a body', async t => {
  const response = await app.inject({ method: 'HEAD', url: '/things', headers })
  t.equal(response.statusCode, 200)
  t.equal(response.body, '')
})

t.test('HEAD of a missing path has no body either', async t => {
  const response = await app.inject({ method: 'HEAD', url: '/version', headers })
  t.equal(response.statusCode, 404)
  t.equal(response.body, '')
})

t.test('a route that calls reply.callNotFound() answers as if it did not exist', async t => {
  const response = await app.inject({ url: '/missing', headers })
  t.equal(response.statusCode, 404)
  t.equal(response.json().detail, 'No route found for "GET /missing"')
})

t.test('preHandler hooks do not run if there is no route', async t => {
  const ran: string[] = []
  const watched = await build(t, {
    database,
    async routes(app) {
      app.addHook('preHandler', async () => {
        ran.push('preHandler')
      })
      app.get('/', async () => 'ok')
    },
  })
  await watched.inject({ url: '/version', headers })
  t.same(ran, [])
  await watched.inject({ url: '/', headers })
  t.same(ran, ['preHandler'])
})

t.test(
  'a wrong method on a profiler route is a 405 for those who may use the profiler, and a 404 for others',
  async t => {
    for (const url of [
      '/_profiler/search_bar',
      '/_profiler/latest?panel=exception',
      '/_profiler/latest/exception',
      '/_profiler/latest/exception.css',
    ]) {
      const path = url.replace(/\?.*/, '')
      const message = `No route found for "POST ${path}": Method Not Allowed (Allow: GET)`
      const response = await app.inject({ method: 'POST', url, headers: { host: 'localhost' } })
      t.equal(response.statusCode, 405, url)
      t.equal(response.headers.allow, 'GET')
      t.match(response.headers['content-type'], 'application/problem+json')
      t.match(response.json(), { title: 'Method Not Allowed', status: 405, detail: message })
      t.match(
        (await app.inject({ method: 'POST', url, headers: { host: 'localhost', accept: 'text/html' } })).body,
        'Method Not Allowed (Allow: GET)',
      )
      const unknown = { method: 'POST', headers: { host: 'localhost' }, remoteAddress: '203.0.113.1' } as const
      for (const [each, asked] of [
        [app, { ...unknown, url }],
        [withoutDebug, { method: 'POST', headers: unknown.headers, url }],
      ] as const) {
        t.match((await each.inject(asked)).json(), { status: 404, detail: `No route found for "POST ${path}"` })
      }
    }
  },
)
