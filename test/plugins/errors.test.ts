import { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { HttpError } from '../../src/errors/http-errors.ts'
import { build } from '../support/build.ts'
import { addLicense } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })

const secret = 'password=hunter2'
// Whoever throws what is no error rarely writes it so that a linter sees it.
const text: unknown = secret
const nothing: unknown = null

const plainObject: unknown = { statusCode: 429, headers: { 'Retry-After': 5 } }
const plainMessage: unknown = { statusCode: 409, message: 'Somebody else has taken it.' }
/** Replaced by each test that is about them. */
let errorHeaders: unknown

class TeapotError extends Error {
  override readonly name = 'TeapotError'
  readonly statusCode = 418
}

async function routes(app: FastifyInstance) {
  app.get('/thrown', async () => {
    throw new Error('beneath the surface', { cause: new TypeError('beneath') })
  })
  app.get('/teapot', async () => {
    throw new TeapotError('Short and stout.')
  })
  app.get('/unavailable', async () => {
    throw Object.assign(new Error(secret), { statusCode: 503 })
  })
  app.get('/string', async () => {
    throw text
  })
  app.get('/null', async () => {
    throw nothing
  })
  app.get<{ Params: { status: string } }>('/odd-status/:status', async ({ params: { status } }) => {
    throw Object.assign(new Error(secret), { statusCode: status === 'text' ? 'abc' : Number(status) })
  })
  app.get('/null-object', async () => {
    throw Object.create(null)
  })
  app.get<{ Params: { status: string } }>('/headers/:status', async ({ params: { status } }) => {
    throw Object.assign(new Error('Later.'), { statusCode: Number(status), headers: errorHeaders })
  })
  app.get('/object', async () => {
    throw plainObject
  })
  app.get('/object-with-message', async () => {
    throw plainMessage
  })
  app.get('/http-error', async () => {
    throw new HttpError(451, 'Not here.', { headers: { link: '<http://e/>\r\nSet-Cookie: a=b' } })
  })
  app.get('/markup', async () => {
    throw Object.assign(new Error('<script>alert(1)</script>\r\nand\u0000 more'), { statusCode: 422 })
  })
  app.get('/stream', async (_request, reply) =>
    reply.type('text/plain').send(
      new Readable({
        read() {
          this.destroy(new Error(secret))
        },
      }),
    ),
  )
  app.get('/:id', async () => 'found')
  app.post(
    '/',
    { schema: { body: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } } },
    async () => 'posted',
  )
}

const app = await build(t, { database, routes })
const debug = await build(t, { database, routes, environment: { DEBUG: '1' } })

async function ask(url: string, headers: Record<string, string> = {}, from = app) {
  return await from.inject({ url, headers: { host: 'museum.test', ...headers } })
}

for (const [accept, type] of [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
  ['application/problem+json', 'application/problem+json; charset=utf-8'],
  ['application/json', 'application/problem+json; charset=utf-8'],
  ['*/*', 'application/problem+json; charset=utf-8'],
  ['text/plain', 'text/plain; charset=utf-8'],
  ['text/plain;q=0.5, text/html;q=0.1', 'text/plain; charset=utf-8'],
  ['image/png', 'application/problem+json; charset=utf-8'],
  ['', 'application/problem+json; charset=utf-8'],
  ['garbage', 'application/problem+json; charset=utf-8'],
  [';;,,q=/*/', 'application/problem+json; charset=utf-8'],
  ['text/html;q=banana', 'application/problem+json; charset=utf-8'],
  [`${'a/b,'.repeat(2000)}text/plain`, 'text/plain; charset=utf-8'],
] as const) {
  t.test(`Accept: ${accept.slice(0, 70)} is told an error as ${type}`, async t => {
    const response = await ask('/none/such', { accept })
    t.equal(response.statusCode, 404)
    t.equal(response.headers['content-type'], type)
    t.match(response.headers.vary, 'Accept')
  })
}

t.test('however many headers come, each is answered by what it says', async t => {
  for (let number = 0; number < 500; number++) {
    const form = number % 2 === 0 ? 'text/html' : 'text/plain'
    const response = await ask('/none/such', { accept: `${form}, a/b${number}` })
    if (response.headers['content-type'] !== `${form}; charset=utf-8`) t.fail(`${form}, a/b${number}`)
  }
  t.equal(
    (await ask('/none/such', { accept: 'text/plain, a/b1' })).headers['content-type'],
    'text/plain; charset=utf-8',
  )
})

t.test('a client that states nothing is told a problem', async t => {
  const response = await app.inject({ url: '/none/such', headers: { host: 'museum.test' } })
  t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
})

t.test('plain text is one line', async t => {
  t.equal((await ask('/none/such', { accept: 'text/plain' })).body, 'No route found for "GET /none/such"\n')
  t.equal((await ask('/markup', { accept: 'text/plain' })).body, '<script>alert(1)</script> and  more\n')
})

t.test('the page says the status, its name and the message, with markup escaped', async t => {
  const { body } = await ask('/markup', { accept: 'text/html' })
  t.match(body, /^<!doctype html>/)
  t.match(body, '<title>422 Unprocessable Entity</title>')
  t.match(body, '<h1>Unprocessable Entity</h1>')
  t.match(body, '&#60;script&#62;alert(1)&#60;/script&#62;')
  t.notMatch(body, '<script>')
})

t.test('no error is stored, sniffed, or in another language than its own', async t => {
  const { headers } = await ask('/none/such')
  t.equal(headers['cache-control'], 'no-store')
  t.equal(headers['x-content-type-options'], 'nosniff')
  t.equal(headers['content-language'], 'en')
})

t.test(
  "an error's page runs nothing that is not its own, and stands in no frame; programs are told no such thing",
  async t => {
    for (const url of ['/none/such', '/thrown', '/%zz', '/markup']) {
      const { headers } = await ask(url, { accept: 'text/html' })
      const policy = String(headers['content-security-policy'])
      t.match(policy, /^default-src 'self';style-src 'self' 'sha256-/)
      t.match(policy, "frame-ancestors 'none'")
      t.notMatch(policy, 'unsafe')
      t.match(headers, {
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      })
      t.notOk('content-security-policy' in (await ask(url, { accept: 'application/json' })).headers)
    }
  },
)

for (const accept of ['text/html', 'application/json', 'text/plain']) {
  for (const url of ['/thrown', '/unavailable', '/string', '/stream']) {
    t.test(`what ${url} threw is not told as ${accept}`, async t => {
      const { body, statusCode } = await ask(url, { accept })
      t.equal(statusCode, url === '/unavailable' ? 503 : 500)
      t.match(body, 'Internal Server Error')
      t.notMatch(body, /hunter2|beneath/)
      t.notMatch(body, /\.ts|\/src\/|node_modules|at /)
    })
  }
}

t.test('an error with a status of its own has that, and below 500 its message is told', async t => {
  const response = await ask('/teapot')
  t.equal(response.statusCode, 418)
  t.match(response.json(), { title: "I'm a Teapot", detail: 'Short and stout.' })
})

for (const status of ['200', '399', '600', '418.5', 'text', '-404', 'Infinity']) {
  t.test(`a status of ${status} is none of an error`, async t => {
    t.equal((await ask(`/odd-status/${status}`)).statusCode, 500)
  })
}

t.test('an error with a status that has no name is told without one', async t => {
  t.match((await ask('/odd-status/499')).json(), { status: 499, title: 'Unknown Error' })
})

for (const status of [400, 401, 429, 500, 503]) {
  t.test(`an error with the status ${status} keeps its headers, in debug too`, async t => {
    errorHeaders = { 'Retry-After': 5, 'WWW-Authenticate': ['Basic realm="a"', 'Bearer'] }
    for (const from of [app, debug]) {
      for (const accept of ['text/html', 'application/json']) {
        const { statusCode, headers } = await ask(`/headers/${status}`, { accept, 'sec-fetch-mode': 'navigate' }, from)
        t.equal(statusCode, status)
        t.match(headers, { 'retry-after': '5', 'www-authenticate': ['Basic realm="a"', 'Bearer'] })
        t.equal(headers['cache-control'], 'no-store')
      }
    }
  })
}

t.test('an object that says its status is answered with it, its headers and its message', async t => {
  const response = await ask('/object')
  t.equal(response.headers['retry-after'], '5')
  t.match(response.json(), { status: 429, detail: 'Too Many Requests' })
})

t.test('an object that says a message is answered with that', async t => {
  t.match((await ask('/object-with-message')).json(), { status: 409, detail: 'Somebody else has taken it.' })
})

t.test("an object that says no status is an error of the server's", async t => {
  t.equal((await ask('/null-object')).statusCode, 500)
})

for (const [what, hostile] of Object.entries({
  'a line break': { 'x-a': 'a\r\nSet-Cookie: a=b' },
  'a line break in a list': { 'x-a': ['a', 'b\nc: d'] },
  'a character beyond latin1': { 'x-a': '日本' },
  'a name that is none': { 'x a\r\n': 'a', '': 'a', 'x:a': 'a' },
  'values that are no text': {
    'x-a': { a: 1 },
    'x-b': null,
    'x-c': undefined,
    'x-d': [],
    'x-e': Symbol('a'),
    'x-f': Object.create(null),
    'x-g': [['a']],
  },
  'what another body would have': {
    'Content-Length': '1',
    'Content-Encoding': 'gzip',
    'Transfer-Encoding': 'chunked',
    Trailer: 'x-a',
    ETag: '"a"',
  },
  "the answer's own headers": {
    'Content-Type': 'image/png',
    'Cache-Control': 'public',
    'X-Content-Type-Options': 'off',
  },
})) {
  t.test(`${what} in an error's headers is not sent, and the others are`, async t => {
    errorHeaders = { ...hostile, 'x-last': 'b' }
    const { statusCode, headers, body } = await ask('/headers/429')
    t.equal(statusCode, 429)
    t.match(JSON.parse(body), { status: 429, detail: 'Later.' })
    t.match(headers, {
      'x-last': 'b',
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(body.length),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    t.notOk(Object.keys(headers).some(name => /^x-[a-g]$|set-cookie|encoding|trailer|etag/.test(name)))
  })
}

for (const odd of [null, 'text', 5, true, [], ['a'], new Map([['a', 'b']])]) {
  t.test(`headers that are ${JSON.stringify(odd)} are none`, async t => {
    errorHeaders = odd
    t.equal((await ask('/headers/422')).statusCode, 422)
  })
}

t.test('cookies of an error are set beside each other', async t => {
  errorHeaders = { 'Set-Cookie': ['a=b', 'c=d'] }
  t.strictSame((await ask('/headers/403')).headers['set-cookie'], ['a=b', 'c=d'])
})

t.test('what an error says that its answer depends on is added to what it depends on anyway', async t => {
  errorHeaders = { Vary: 'Origin' }
  const { vary } = (await ask('/headers/403')).headers
  t.match(vary, 'Accept')
  t.match(vary, 'Origin')
})

t.test("no header of the application's own errors can split an answer", async t => {
  const { statusCode, headers } = await ask('/http-error')
  t.equal(statusCode, 451)
  t.notOk(headers.link)
})

t.test('null may be thrown', async t => {
  t.equal((await ask('/null')).statusCode, 500)
})

t.test('in debug a problem tells the chain of exceptions', async t => {
  t.match((await ask('/thrown', {}, debug)).json(), {
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    exceptions: [
      { class: 'Error', message: 'beneath the surface', relation: 'thrown' },
      { class: 'TypeError', message: 'beneath', relation: 'cause' },
    ],
  })
})

t.test('a client elsewhere is told nothing more in debug', async t => {
  const response = await debug.inject({
    url: '/thrown',
    headers: { host: 'museum.test' },
    remoteAddress: '203.0.113.5',
  })
  t.same(response.json(), {
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    detail: 'Internal Server Error',
  })
})

for (const header of ['x-forwarded-for', 'x-real-ip']) {
  t.test(`nor is one behind a proxy on this machine that nobody declared, which ${header} gives away`, async t => {
    const response = await ask('/thrown', { [header]: '203.0.113.5' }, debug)
    t.notOk(response.json().exceptions)
  })
}

t.test('DEBUG_ALLOW lets others see diagnostics', async t => {
  const open = await build(t, { database, routes, environment: { DEBUG: '1', DEBUG_ALLOW: '203.0.113.0/24' } })
  const response = await open.inject({ url: '/thrown', headers: { host: 'museum.test' }, remoteAddress: '203.0.113.5' })
  t.match(response.json().exceptions, [{ class: 'Error' }, { class: 'TypeError' }])
})

t.test("a body that is not what it says is a bad request around the parser's error", async t => {
  const response = await debug.inject({
    method: 'POST',
    url: '/',
    headers: { host: 'museum.test', 'content-type': 'application/json' },
    payload: '{"name":',
  })
  t.equal(response.statusCode, 400)
  t.match(response.json(), { detail: /JSON/, exceptions: [{ class: 'BadRequestHttpError' }, { class: /./ }] })
  t.equal(response.json().exceptions[0].message, response.json().exceptions[1].message)
})

t.test("a body that the schema refuses is a bad request in the validator's words", async t => {
  const response = await app.inject({
    method: 'POST',
    url: '/',
    headers: { host: 'museum.test' },
    payload: { name: {} },
  })
  t.equal(response.statusCode, 400)
  t.equal(response.json().detail, 'body/name must be string')
})

t.test('a body of an unknown type is told so', async t => {
  const response = await app.inject({
    method: 'POST',
    url: '/',
    headers: { host: 'museum.test', 'content-type': 'application/x-unknown' },
    payload: 'x',
  })
  t.equal(response.statusCode, 415)
})

t.test('a body over the limit is told so', async t => {
  const response = await app.inject({
    method: 'POST',
    url: '/',
    headers: { host: 'museum.test' },
    payload: { name: 'a'.repeat(2 ** 21) },
  })
  t.equal(response.statusCode, 413)
})

for (const url of ['/%zz', '/%', '/%c3%28', '/a/%e0%a4%a', '/%zz?a=%zz']) {
  t.test(`${url} cannot be decoded`, async t => {
    for (const accept of ['application/json', 'text/html', 'text/plain']) {
      const response = await app.inject({ url, headers: { host: 'museum.test', accept } })
      t.equal(response.statusCode, 400)
      t.match(response.body, 'is not a valid url component')
      t.equal(response.headers['cache-control'], 'no-store')
    }
  })
}

t.test('a parameter that is too long is told so in the same form as any error', async t => {
  const response = await ask(`/${'a'.repeat(500)}`)
  t.equal(response.statusCode, 414)
  t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
})

t.test('errors of requests that fail before any hook show their cause in debug', async t => {
  t.equal((await ask('/%zz', {}, debug)).json().exceptions.length, 2)
})

t.test('what is logged', async t => {
  const lines: { level: number; msg: string; err?: unknown }[] = []
  const logged = await build(t, {
    database,
    routes,
    logger: {
      level: 'info',
      stream: {
        write(line: string) {
          lines.push(JSON.parse(line))
        },
      },
    },
  })

  t.test("of an error of the client's is one line without a stack", async t => {
    await ask('/none/such', {}, logged)
    const line = lines.find(({ msg }) => msg.startsWith('No route found'))
    t.match(line, { level: 30, err: undefined })
    t.notMatch(JSON.stringify(line), 'stack')
  })

  t.test("of an error of the server's is the error with its stack", async t => {
    await ask('/thrown', {}, logged)
    t.match(
      lines.find(({ msg }) => msg === 'beneath the surface'),
      { level: 50, err: { type: 'Error', stack: /errors\.test\.ts/ } },
    )
  })
})
