import { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, openTestDatabase, problemOf } from '../support/site.ts'
import { keepLog } from '../support/log.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test', name: 'House & <Home>' })
const languages = ['en', 'de', 'fr', 'it', 'es', 'nl', 'pl']
await addLicense(database, { domain: 'polyglot.test', name: 'Polyglot', languages })
await addLicense(database, { domain: 'austria.test', name: 'Austria', languages: ['de-AT'] })

const secret = 'password=hunter2'

/** What the routes throw, by their paths. */
const thrown: Record<string, unknown> = {
  '/thrown': new Error('beneath the surface', { cause: new TypeError('beneath') }),
  '/teapot': Object.assign(new Error('Short and stout.'), { statusCode: 418 }),
  '/unavailable': Object.assign(new Error(secret), { statusCode: 503 }),
  '/string': secret,
  '/null': null,
  '/null-object': Object.create(null),
  '/object': { statusCode: 429, headers: { 'Retry-After': 5 } },
  '/object-with-message': { statusCode: 409, message: 'Somebody else has taken it.' },
  '/markup': Object.assign(new Error('<script>alert(1)</script>\r\nand\u0000 more'), { statusCode: 422 }),
}
/** Set by each test that needs it. */
let errorHeaders: unknown

async function routes(app: FastifyInstance) {
  for (const [url, error] of Object.entries(thrown)) {
    app.get(url, async () => {
      throw error
    })
  }
  app.get<{ Params: { status: string } }>('/status/:status', async ({ params: { status } }) => {
    const statusCode = status === 'text' ? 'abc' : Number(status)
    throw Object.assign(new Error('Later.'), { statusCode, headers: errorHeaders })
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
  const body = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  app.post('/', { schema: { body } }, async () => 'posted')
}

const app = await build(t, { database, routes })
const debug = await build(t, { database, routes, environment: { DEBUG: '1' } })

async function ask(url: string, headers: Record<string, string> = {}, from = app) {
  return await from.inject({ url, headers: { host: 'museum.test', ...headers } })
}

const page = 'text/html; charset=utf-8'
const problem = 'application/problem+json; charset=utf-8'
const plain = 'text/plain; charset=utf-8'

for (const [accept, type] of [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', page],
  ['application/problem+json', problem],
  ['*/*', problem],
  ['text/plain;q=0.5, text/html;q=0.1', plain],
  ['image/png', problem],
  ['', problem],
  ['text/html;q=banana', problem],
  [`${'a/b,'.repeat(2000)}text/plain`, plain],
] as const) {
  t.test(`Accept: ${accept.slice(0, 70)} gets an error as ${type}`, async t => {
    const { statusCode, headers } = await ask('/none/such', { accept })
    t.strictSame([statusCode, headers['content-type']], [404, type])
    t.match(headers.vary, 'Accept')
  })
}

t.test('each of 500 different Accept headers gets the type that it asks for', async t => {
  for (let number = 0; number < 500; number++) {
    const form = number % 2 === 0 ? 'text/html' : 'text/plain'
    const response = await ask('/none/such', { accept: `${form}, a/b${number}` })
    if (response.headers['content-type'] !== `${form}; charset=utf-8`) t.fail(`${form}, a/b${number}`)
  }
  t.equal((await ask('/none/such', { accept: 'text/plain, a/b1' })).headers['content-type'], plain)
})

t.test('an error in plain text is one line', async t => {
  t.equal((await ask('/none/such', { accept: 'text/plain' })).body, 'No route found for "GET /none/such"\n')
  t.equal((await ask('/markup', { accept: 'text/plain' })).body, '<script>alert(1)</script> and  more\n')
})

t.test('an error page names the site, and shows the message with markup escaped', async t => {
  const { body } = await ask('/markup', { accept: 'text/html' })
  t.match(body, /^<!doctype html>/)
  t.match(body, '<title>This request could not be answered &ndash; House &#38; &#60;Home&#62;</title>')
  t.match(body, '<h1>This request could not be answered</h1>')
  t.match(body, '&#60;script&#62;alert(1)&#60;/script&#62;')
  t.notMatch(body, '<script>')
})

for (const [language, heading, link] of [
  ['en', 'Page not found', 'Go to the front page'],
  ['de', 'Seite nicht gefunden', 'Zur Startseite'],
] as const) {
  t.test(`who reads ${language} gets an error page in that language, with the message to the letter`, async t => {
    for (const asked of [{ 'accept-language': language }, { cookie: `locale=${language}`, 'accept-language': 'pl' }]) {
      const headers = { host: 'polyglot.test', accept: 'text/html', referer: 'http://a.test/', ...asked }
      const response = await ask('/none/such', headers)
      t.strictSame([response.statusCode, response.headers['content-language']], [404, language])
      t.match(response.headers.vary, 'Accept-Language')
      t.match(response.body, `<html lang="${language}">`)
      t.match(response.body, `<title>${heading} &ndash; Polyglot</title>`)
      t.match(response.body, `<h1>${heading}</h1>`)
      t.match(
        response.body,
        '<p lang="en">No route found for &#34;GET /none/such&#34; (from &#34;http://a.test/&#34;)</p>',
      )
      t.match(response.body, `<a href="/">${link}</a>`)
    }
  })
}

t.test('an error page is English for who reads a language of the site that Portico has no words for', async t => {
  const { body, headers } = await ask('/none/such', {
    host: 'polyglot.test',
    accept: 'text/html',
    'accept-language': 'pl',
  })
  t.match(body, '<html lang="en">')
  t.match(body, '<h1>Page not found</h1>')
  t.equal(headers['content-language'], 'en')
})

t.test('an error page is in the general language if the visitor reads a regional one', async t => {
  const { body, headers } = await ask('/none/such', { host: 'austria.test', accept: 'text/html' })
  t.match(body, '<html lang="de-AT">')
  t.match(body, '<h1>Seite nicht gefunden</h1>')
  t.equal(headers['content-language'], 'de-AT')
})

t.test('an error for programs is English, whatever the language of the visitor', async t => {
  for (const accept of ['application/json', 'text/plain']) {
    const [one, other] = await Promise.all(
      ['en', 'de'].map(language => ask('/none/such', { host: 'polyglot.test', accept, 'accept-language': language })),
    )
    t.equal(one?.body, other?.body)
    t.equal(other?.headers['content-language'], 'en')
  }
})

for (const [status, heading] of [
  [400, 'This request could not be answered'],
  [401, 'Please sign in'],
  [403, 'Access denied'],
  [404, 'Page not found'],
  [429, 'Please wait a moment'],
  [503, 'Temporarily unavailable'],
] as const) {
  t.test(`the page of a ${status} says "${heading}"`, async t => {
    errorHeaders = {}
    t.match((await ask(`/status/${status}`, { accept: 'text/html' })).body, `<h1>${heading}</h1>`)
  })
}

t.test('the pages of two sites do not name each other, however often they are asked for', async t => {
  for (let round = 0; round < 3; round++) {
    for (const [host, name] of [
      ['museum.test', 'House &#38; &#60;Home&#62;'],
      ['polyglot.test', 'Polyglot'],
    ] as const) {
      const { body } = await ask('/none/such', { host, accept: 'text/html' })
      t.match(body, `<title>Page not found &ndash; ${name}</title>`)
    }
  }
})

t.test('an error is neither stored nor sniffed, and states its language', async t => {
  const told = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'content-language': 'en' }
  t.hasStrict((await ask('/none/such')).headers, told)
})

t.test('an error page has a strict content security policy, and an error in JSON has none', async t => {
  for (const url of ['/none/such', '/thrown', '/%zz', '/markup']) {
    const { headers } = await ask(url, { accept: 'text/html' })
    const policy = String(headers['content-security-policy'])
    t.match(policy, /^default-src 'self';style-src 'self' 'sha256-/)
    t.match(policy, "frame-ancestors 'none'")
    t.notMatch(policy, 'unsafe')
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
    t.notOk('content-security-policy' in (await ask(url, { accept: 'application/json' })).headers)
  }
})

for (const accept of ['text/html', 'application/json', 'text/plain']) {
  for (const url of ['/thrown', '/unavailable', '/string', '/stream']) {
    t.test(`${accept} does not reveal what ${url} threw`, async t => {
      const { body, statusCode } = await ask(url, { accept })
      t.equal(statusCode, url === '/unavailable' ? 503 : 500)
      t.match(body, 'Internal Server Error')
      t.notMatch(body, /hunter2|beneath/)
      t.notMatch(body, /\.ts|\/src\/|node_modules|at /)
    })
  }
}

t.test('an error keeps its status, and its message is shown below 500', async t => {
  const response = await ask('/teapot')
  t.equal(response.statusCode, 418)
  t.match(response.json(), { title: "I'm a Teapot", detail: 'Short and stout.' })
})

t.test('an error with a status that no error has is answered with 500', async t => {
  for (const status of ['399', '600', '418.5', 'text']) {
    t.equal((await ask(`/status/${status}`)).statusCode, 500, status)
  }
})

t.test('an error whose status has no name is an "Unknown Error"', async t => {
  t.match((await ask('/status/499')).json(), { status: 499, title: 'Unknown Error' })
})

for (const status of [401, 503]) {
  t.test(`an error with the status ${status} keeps its headers, with DEBUG=1 too`, async t => {
    errorHeaders = { 'Retry-After': 5, 'WWW-Authenticate': ['Basic realm="a"', 'Bearer'] }
    for (const from of [app, debug]) {
      for (const accept of ['text/html', 'application/json']) {
        const { statusCode, headers } = await ask(`/status/${status}`, { accept, 'sec-fetch-mode': 'navigate' }, from)
        t.equal(statusCode, status)
        const challenges = ['Basic realm="a"', 'Bearer']
        t.match(headers, { 'retry-after': '5', 'www-authenticate': challenges, 'cache-control': 'no-store' })
      }
    }
  })
}

t.test('a thrown object is answered with its status, message and headers, if it has them', async t => {
  const response = await ask('/object')
  t.equal(response.headers['retry-after'], '5')
  t.match(response.json(), { status: 429, detail: 'Too Many Requests' })
  t.match((await ask('/object-with-message')).json(), { status: 409, detail: 'Somebody else has taken it.' })
  for (const url of ['/null-object', '/null']) t.equal((await ask(url)).statusCode, 500)
})

const notText = { 'x-a': { a: 1 }, 'x-b': null, 'x-c': undefined, 'x-d': [], 'x-e': Symbol('a'), 'x-g': [['a']] }
const ofBody = { 'Content-Length': '1', 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked', ETag: '"a"' }
const own = { 'Content-Type': 'image/png', 'Cache-Control': 'public', 'X-Content-Type-Options': 'off' }

for (const [what, hostile] of Object.entries({
  'a line break': { 'x-a': 'a\r\nSet-Cookie: a=b' },
  'a line break in a list': { 'x-a': ['a', 'b\nc: d'] },
  'a character beyond latin1': { 'x-a': '日本' },
  'an invalid name': { 'x a\r\n': 'a', '': 'a', 'x:a': 'a' },
  'a value that is not text': { ...notText, 'x-f': Object.create(null) },
  'a name that describes a body': { ...ofBody, Trailer: 'x-a' },
  'a name that the answer sets itself': own,
})) {
  t.test(`an error's headers are sent, except those with ${what}`, async t => {
    errorHeaders = { ...hostile, 'x-last': 'b' }
    const response = await ask('/status/429')
    t.strictSame(problemOf(response), [429, 'Later.'])
    const { headers, body } = response
    t.match(headers, {
      'x-last': 'b',
      'content-type': problem,
      'content-length': String(body.length),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    t.notOk(Object.keys(headers).some(name => /^x-[a-g]$|set-cookie|encoding|trailer|etag/.test(name)))
  })
}

t.test('headers of an error that are no record of them are ignored', async t => {
  for (const odd of [null, 'text', ['a']]) {
    errorHeaders = odd
    t.equal((await ask('/status/422')).statusCode, 422, JSON.stringify(odd))
  }
})

t.test("an error can set several cookies, and its Vary header is added to the answer's own", async t => {
  errorHeaders = { 'Set-Cookie': ['a=b', 'c=d'], Vary: 'Origin' }
  const { headers } = await ask('/status/403')
  t.strictSame(headers['set-cookie'], ['a=b', 'c=d'])
  t.match(headers.vary, 'Accept')
  t.match(headers.vary, 'Origin')
})

t.test('with DEBUG=1 a problem lists the chain of exceptions', async t => {
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

for (const [whom, headers, remoteAddress] of [
  ['a remote client', {}, '203.0.113.5'],
  ['a client behind an undeclared proxy', { 'x-forwarded-for': '203.0.113.5' }, '127.0.0.1'],
  ['a client behind another one', { 'x-real-ip': '203.0.113.5' }, '127.0.0.1'],
] as const) {
  t.test(`with DEBUG=1 ${whom} still gets no exceptions`, async t => {
    const sent = { url: '/thrown', headers: { host: 'museum.test', ...headers }, remoteAddress }
    t.strictSame((await debug.inject(sent)).json(), {
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: 'Internal Server Error',
    })
  })
}

t.test("a malformed body is a bad request caused by the parser's error", async t => {
  const headers = { host: 'museum.test', 'content-type': 'application/json' }
  const response = await debug.inject({ method: 'POST', url: '/', headers, payload: '{"name":' })
  const [thrown, cause] = response.json().exceptions
  t.match([thrown, cause], [{ class: 'BadRequestHttpError' }, { class: /./, message: thrown.message }])
})

t.test('a URL that cannot be decoded is a 400', async t => {
  for (const url of ['/%zz', '/%', '/%c3%28', '/a/%e0%a4%a', '/%zz?a=%zz']) {
    for (const accept of ['application/json', 'text/html', 'text/plain']) {
      const { statusCode, headers, body } = await ask(url, { accept })
      t.strictSame([statusCode, headers['cache-control']], [400, 'no-store'], `${url} as ${accept}`)
      t.match(body, 'is not a valid url component')
    }
  }
})

t.test('an overlong parameter is a 414 in the same format as any error', async t => {
  const { statusCode, headers } = await ask(`/${'a'.repeat(500)}`)
  t.strictSame([statusCode, headers['content-type']], [414, problem])
})

t.test('an error before any hook shows its cause with DEBUG=1', async t => {
  t.equal((await ask('/%zz', {}, debug)).json().exceptions.length, 2)
})

t.test('the log has one line without a stack for a client error, and the stack for a server error', async t => {
  const { logger, records } = keepLog()
  const logged = await build(t, { database, routes, logger })
  await ask('/none/such', {}, logged)
  await ask('/thrown', {}, logged)
  const line = records().find(({ msg }) => msg.startsWith('No route found'))
  t.match(line, { level: 30, err: undefined })
  t.notMatch(JSON.stringify(line), 'stack')
  t.match(
    records().find(({ msg }) => msg === 'beneath the surface'),
    { level: 50, err: { type: 'Error', stack: /errors\.test\.ts/ } },
  )
})
