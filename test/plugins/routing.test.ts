import { METHODS } from 'node:http'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, openTestDatabase, problemOf } from '../support/site.ts'
import { sendBytes } from '../support/send-bytes.ts'

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

for (const [method, url, detail, sent] of [
  ['GET', '/portal/backend/info.php', 'No route found for "GET /portal/backend/info.php"'],
  ['POST', '/version', 'No route found for "POST /version"'],
  ['DELETE', '/version/', 'No route found for "DELETE /version/"'],
  ['OPTIONS', '/version', 'No route found for "OPTIONS /version"'],
  ['GET', '/version?a=b', 'No route found for "GET /version"'],
  ['GET', '/a%20b%2Fc', 'No route found for "GET /a%20b%2Fc"'],
  ['GET', '/double%252Fencoded', 'No route found for "GET /double%252Fencoded"'],
  ['GET', '/nul%00', 'No route found for "GET /nul%00"'],
  // The referer is added to the message, whatever the host, and even on a protected site.
  ['GET', '/version', 'No route found for "GET /version" (from "http://a.test/x")', { referer: 'http://a.test/x' }],
  ['GET', '/version', 'No route found for "GET /version"', { referer: '' }],
  ['GET', '/version', 'No route found for "GET /version"', { host: 'nobody.test' }],
  ['GET', '/version', 'No route found for "GET /version"', { host: 'protected.test' }],
  // Only GET and HEAD are sent to the other slash form, and only if it has them.
  ['POST', '/slash', 'No route found for "POST /slash"'],
  ['PUT', '/slash', 'No route found for "PUT /slash"'],
  ['DELETE', '/slash', 'No route found for "DELETE /slash"'],
  ['GET', '/posted', 'No route found for "GET /posted"'],
  // It has the method only under other constraints.
  ['GET', '/constrained', 'No route found for "GET /constrained"'],
  // The route calls reply.callNotFound().
  ['GET', '/missing', 'No route found for "GET /missing"'],
] as const) {
  t.test(`${method} ${url} with ${JSON.stringify(sent)} is a 404: ${detail}`, async t => {
    t.strictSame(problemOf(await app.inject({ method, url, headers: { ...headers, ...sent } })), [404, detail])
  })
}

t.test('a path without a route is a 404 with every method that Node reads, with DEBUG=1 and without', async t => {
  for (const each of [app, withoutDebug]) {
    const address = await each.listen({ port: 0, host: '127.0.0.1' })
    for (const method of METHODS) {
      const answer = await sendBytes(
        address,
        `${method} /version HTTP/1.1\r\nHost: museum.test\r\nAccept: text/plain\r\n`,
      )
      t.match(answer, /^HTTP\/1\.1 404 Not Found\r\n/, method)
      const [, body] = answer.split('\r\n\r\n')
      t.equal(body, method === 'HEAD' ? '' : `No route found for "${method} /version"\n`)
    }
    t.match(
      await sendBytes(address, 'CONNECT museum.test:80 HTTP/1.1\r\nHost: museum.test:80\r\n'),
      /^HTTP\/1\.1 400 [^]*\r\nconnection: close\r\n[^]*"Invalid request target \\"museum\.test:80\\"\."/i,
    )
  }
})

t.test('a path that ends in a slash is its own trailing-slash form', async t => {
  const response = await app.inject({ url: '/version/', headers })
  t.equal(response.json().exceptions[1].message, 'No routes found for "/version/"')
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

/** Methods that the routes of a path lack, and those that they have, in the order of registration. */
for (const [method, url, allow] of [
  ['POST', '/things', 'PUT, GET'],
  ['OPTIONS', '/things', 'PUT, GET'],
  ['PATCH', '/things/a%20b', 'GET, DELETE'],
  // HEAD is listed only if a route declares it.
  ['PUT', '/headed', 'GET, HEAD'],
  ['POST', '/head-only', 'HEAD'],
  ['POST', '/apart', 'GET, HEAD'],
] as const) {
  t.test(`${method} ${url} is a 405 that allows ${allow}`, async t => {
    const response = await app.inject({ method, url, headers: { ...headers, referer: 'http://a.test/' } })
    const detail = `No route found for "${method} ${url}": Method Not Allowed (Allow: ${allow})`
    t.strictSame(problemOf(response), [405, detail])
    t.equal(response.headers.allow, allow)
    t.equal(response.json().exceptions[0].class, 'MethodNotAllowedHttpError')
  })
}

for (const [method, url, location] of [
  ['GET', '/slash?a=%20b&c', 'http://museum.test:8080/slash/?a=%20b&c'],
  ['HEAD', '/slash', 'http://museum.test:8080/slash/'],
  ['GET', '/plain/', 'http://museum.test:8080/plain'],
] as const) {
  t.test(`${method} ${url} is permanently redirected to the other slash form`, async t => {
    const response = await app.inject({ method, url, headers: { host: 'museum.test:8080' } })
    t.strictSame([response.statusCode, response.headers.location, response.body], [301, location, ''])
  })
}

t.test('HEAD is answered by a GET route or with a 404, without a body', async t => {
  for (const [url, status] of [
    ['/things', 200],
    ['/version', 404],
  ] as const) {
    const { statusCode, body } = await app.inject({ method: 'HEAD', url, headers })
    t.strictSame([statusCode, body], [status, ''])
  }
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
