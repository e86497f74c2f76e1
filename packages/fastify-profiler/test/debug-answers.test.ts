import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import { makeFolder } from './folder.ts'
import { getRaw, listen, onlyProfile, pageOf, profiledApp, sendRaw, turns } from './profiled-app.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const page = '<html><body><p>Hello</p><script>"</body>"</script></BODY></html>'

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some(each => each?.address === '::1')

t.test('an error page replaces the answer to an error that was caught, but no page of the application', async t => {
  const app = await profiledApp(t)
  const bodies: Record<string, string> = {
    'application/json': '{"sorry":1}',
    'text/html': '<html><body>sorry</body></html>',
  }
  app.get<{ Querystring: Record<'type' | 'how', string> }>('/', async (request, reply) => {
    const { how, type } = request.query
    const error = new Error('it broke')
    if (how === 'caught') request.recorder?.exception(error)
    else request.log.error(error)
    return reply.code(500).type(type).send(bodies[type])
  })
  for (const [how, type, expected] of [
    ['caught', 'application/json', 'Stack Traces'],
    ['caught', 'text/html', 'sorry'],
    ['logged', 'application/json', 'sorry'],
    ['logged', 'text/html', 'sorry'],
  ] as const) {
    const { body } = await app.inject({ url: '/', query: { how, type }, headers: browser })
    t.match(body, expected, `${how} ${type}`)
  }
})

t.test('a failed request is answered with the error page if the client wants HTML', async t => {
  const app = await profiledApp(t)
  app.get('/broken', async () => {
    throw new Error('it <broke>')
  })
  app.get('/elsewhere', async (_request, reply) => reply.callNotFound())
  for (const [url, status] of [
    ['/broken', 500],
    ['/nowhere', 404],
    ['/elsewhere', 404],
    ['/%zz', 400],
  ] as const) {
    const { statusCode, headers, body } = await app.inject({ url, headers: browser })
    t.equal(statusCode, status)
    t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    t.equal(headers['content-length'], String(Buffer.byteLength(body)))
    for (const section of ['Exceptions', 'Logs', 'Stack Traces']) t.match(body, section)
    t.match(body, `href="/_profiler/${headers['x-debug-token']}?panel=exception"`)
    t.notMatch(body, '<broke>')
    t.ok(Buffer.byteLength(body) < 60_000)
  }
})

t.test('headers that the profiler changes keep the spelling of their names', async t => {
  const app = await profiledApp(t)
  app.get('/', async (_request, { raw }) => {
    raw.writeHead(200, {
      'Content-Type': 'text/html',
      'Content-Length': 17,
      'Content-Security-Policy': "default-src 'none'",
      'Server-Timing': 'db;dur=5',
      'X-Robots-Tag': 'nofollow',
    })
    raw.end('<body>page</body>')
  })
  const { port } = await listen(app)
  const head = Object.entries(browser).map(([name, value]) => `${name}: ${value}\r\n`)
  const answer = await sendRaw(port, `GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${head.join('')}\r\n`)
  t.match(answer, "\r\nContent-Security-Policy: default-src 'none'; script-src-elem")
  t.match(answer, /\r\nContent-Length: (?!17\r)/)
  t.match(answer, '\r\nServer-Timing: token;desc=')
  t.match(answer, '\r\nX-Robots-Tag: nofollow\r\nX-Robots-Tag: noindex\r\n')
})

t.test("the error page replaces the headers that described the application's own body", async t => {
  const app = await profiledApp(t)
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.url !== '/compressed') return payload
    reply.header('content-encoding', 'gzip')
    return gzipSync(String(payload))
  })
  const old = {
    'content-disposition': 'attachment',
    'content-language': 'fr',
    'content-range': 'bytes */7',
    'accept-ranges': 'bytes',
    etag: '"1"',
    'last-modified': 'Sat, 21 Nov 2026 01:11:07 GMT',
  }
  for (const url of ['/compressed', '/download']) {
    app.get(url, async (_request, reply) => {
      reply.headers(old)
      throw new Error('it broke')
    })
  }
  for (const url of ['/compressed', '/download']) {
    for (const [accept, part] of [
      [browser.accept, 'Stack Traces'],
      ['text/markdown', '# 500'],
    ] as const) {
      const { headers, body } = await app.inject({ url, headers: { accept } })
      t.match(body, part, url)
      t.match(headers['content-type'], accept.slice(0, 9))
      for (const name of ['content-encoding', ...Object.keys(old)]) t.equal(headers[name], undefined, name)
      t.equal(headers['content-length'], String(Buffer.byteLength(body)))
    }
  }
  const { rawPayload, headers } = await app.inject('/compressed')
  t.equal(JSON.parse(gunzipSync(rawPayload).toString()).message, 'it broke', 'a program gets what the application sent')
  t.equal(headers['content-encoding'], 'gzip')
})

t.test('an error with many members gets a page of limited size: most are folded', async t => {
  const app = await profiledApp(t)
  const members = Array.from({ length: 50 }, (_, number) => new RangeError(`member ${number}`))
  app.get('/many', async () => {
    throw new AggregateError(members, 'several')
  })
  const { body } = await app.inject({ url: '/many', headers: browser })
  t.ok(Buffer.byteLength(body) < 90_000, `${Buffer.byteLength(body)} bytes`)
  t.match(body, /<summary>4 RangeError/)
  t.match(body, />member 17</)
})

t.test('a response chosen by a handler or a hook reaches the client unchanged, whatever its status', async t => {
  const app = await profiledApp(t)
  app.get('/user', async (_request, reply) => reply.code(404).send({ error: 'no such user' }))
  app.get('/text', async (_request, reply) => reply.code(400).type('text/plain').send('no'))
  app.get(
    '/forbidden',
    { onRequest: async (_request, reply) => reply.code(403).send({ no: true }) },
    async () => 'never',
  )
  for (const [url, body] of [
    ['/user', '{"error":"no such user"}'],
    ['/text', 'no'],
    ['/forbidden', '{"no":true}'],
  ] as const) {
    for (const accept of [browser.accept, 'text/markdown']) {
      const answer = await app.inject({ url, headers: { accept } })
      t.equal(answer.body, body, url)
      t.ok(answer.headers['x-debug-token'])
    }
  }
})

/** Answers errors with a problem, which programs get with the exceptions. */
function answerWithProblems(app: FastifyInstance): void {
  app.setErrorHandler(async (error, _request, reply) =>
    reply
      .code(500)
      .type('application/problem+json')
      .send(JSON.stringify({ title: String(error) })),
  )
}

t.test("a program gets the application's response, and a problem also lists the exceptions", async t => {
  const app = await profiledApp(t)
  answerWithProblems(app)
  app.get('/problem', async () => {
    const cause = Object.assign(new Error('deep'), { stack: 'Error: deep\n    at /srv/museum/nameless.ts:1:2' })
    throw new TypeError('bad', { cause })
  })
  const others = { plain: '{"plain":true}', list: '[]', text: 'no JSON' }
  for (const [name, body] of Object.entries(others)) {
    const type = name === 'plain' ? 'application/json' : 'application/problem+json'
    app.get(`/${name}`, async (_request, reply) => reply.code(500).type(type).send(body))
  }
  for (const [name, body] of Object.entries(others)) t.equal((await app.inject(`/${name}`)).body, body)
  const response = await app.inject({ url: '/problem', headers: { accept: 'application/problem+json' } })
  const problem = response.json()
  t.match(problem, {
    title: 'TypeError: bad',
    token: response.headers['x-debug-token'],
    link: response.headers['x-debug-token-link'],
    exceptions: [
      { class: 'TypeError', message: 'bad', relation: 'thrown' },
      { class: 'Error', message: 'deep', relation: 'cause', trace: ['anonymous (/srv/museum/nameless.ts:1:2)'] },
    ],
  })
  t.match(problem.exceptions[0].trace[0], /debug-answers\.test\.ts:\d+:\d+/)
})

t.test('a problem names original lines, of many compiled files and after one of them has changed', async t => {
  const app = await profiledApp(t)
  const directory = makeFolder()
  const files = Array.from({ length: 30 }, (_, index) => join(directory, `compiled${index}.js`))
  const compile = (file: string, source: string) => {
    writeFileSync(file, `run()\n//# sourceMappingURL=${source}.map\n`)
    writeFileSync(join(directory, source), '\nrun()\n')
    writeFileSync(join(directory, `${source}.map`), JSON.stringify({ version: 3, sources: [source], mappings: 'AACA' }))
  }
  for (const file of files) compile(file, 'before.ts')
  const [first = ''] = files
  const template = join(directory, 'template.txt')
  writeFileSync(template, 'run()\n')
  app.get('/broken', async () => {
    const stack = [...files, template].map(file => `    at run (${file}:1:1)`).join('\n')
    throw Object.assign(new Error('broken'), { stack: `Error: broken\n${stack}` })
  })
  answerWithProblems(app)
  const places = async (): Promise<string[]> => (await app.inject('/broken')).json().exceptions[0].trace
  const before = files.map(() => `run (${join(directory, 'before.ts')}:2:1)`)
  for (let time = 0; time < 2; time++) {
    t.same(await places(), [...before, `run (${template}:1:1)`], 'a file that is no source file stays as it is')
  }
  compile(first, 'afterwards.ts')
  utimesSync(first, 1, 1)
  t.equal((await places())[0], `run (${join(directory, 'afterwards.ts')}:2:1)`)
})

t.test('a file in one of the folders of pnpm is named as npm would have installed it', async t => {
  const root = makeFolder()
  const folder = join(root, 'node_modules/.pnpm/painter@1.2.3_ink@2.0.0/node_modules/painter')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'paint.cjs'), "exports.paint = () => { throw new Error('no ink') }")
  const app = await profiledApp(t, { root, directory: join(root, 'profiles') })
  app.get('/', () => createRequire(root)(join(folder, 'paint.cjs')).paint())
  await app.inject('/')
  for (const accept of ['text/html', 'text/markdown']) {
    t.match(
      await pageOf(app, 'latest?panel=exception', accept),
      /at exports\.paint \(node_modules\/painter\/paint\.cjs:1:31\)/,
    )
  }
})

t.test("an untrusted client gets the application's own response, with a token", async t => {
  const app = await profiledApp(t)
  app.get('/page', async (_request, reply) => reply.type('text/html').send(page))
  for (const outsider of [{ remoteAddress: '203.0.113.1' }, { headers: { ...browser, host: 'evil.test' } }]) {
    const missing = await app.inject({ url: '/nowhere', headers: browser, ...outsider })
    t.equal(missing.json().message, 'Route GET:/nowhere not found')
    t.ok(missing.headers['x-debug-token'])
    t.equal((await app.inject({ url: '/page', headers: browser, ...outsider })).body, page)
  }
})

t.test('the toolbar is one tag before the last </body> of a page', async t => {
  const app = await profiledApp(t)
  app.get('/page', async (_request, reply) =>
    reply.type('text/html').header('content-security-policy', "default-src 'self'").header('etag', '"1"').send(page),
  )
  app.get('/plain', async (_request, reply) => reply.type('text/html').send(Buffer.from('<body>text</body>')))
  app.get('/form', async (_request, reply) => reply.code(422).type('text/html').send('<body>try again</body>'))
  const { body, headers } = await app.inject({ url: '/page', headers: browser })
  t.match(
    body,
    /^<html><body><p>Hello<\/p><script>"<\/body>"<\/script><script src="\/_profiler\/assets\/toolbar\.js[^<]*<\/script><\/BODY><\/html>$/i,
  )
  t.equal(headers['content-length'], String(Buffer.byteLength(body)))
  t.match(headers, { etag: '"1"', 'content-security-policy': "default-src 'self'" })
  for (const [url, expected] of [
    ['/plain', /^<body>text<script [^<]*<\/script><\/body>$/],
    // A form with errors is still a form.
    ['/form', /^<body>try again<script /],
  ] as const) {
    t.match((await app.inject({ url, headers: browser })).body, expected)
  }
})

t.test("a page's policy is extended by the hash of the toolbar's script and nothing else", async t => {
  const app = await profiledApp(t)
  let policy: string | string[] = ''
  app.get('/page', async (_request, reply) =>
    reply.type('text/html').header('content-security-policy', policy).send(page),
  )
  app.get('/unchanged', async (_request, reply) => reply.code(304).header('content-security-policy', policy).send())
  const { body } = await app.inject({ url: '/page', headers: browser })
  const hash = /integrity="([^"]+)"/.exec(body)?.[1]
  for (const [stated, expected] of [
    ['', ''],
    ["style-src 'none'", "style-src 'none'"],
    ["default-src 'self'; style-src x", "default-src 'self'; style-src x"],
    ["default-src 'none'; img-src data:", `default-src 'none'; img-src data:; script-src-elem '${hash}'`],
    [
      "default-src 'none'; Script-Src 'nonce-1' 'strict-dynamic' 'self'",
      `default-src 'none'; Script-Src 'nonce-1' 'strict-dynamic' 'self'; script-src-elem 'nonce-1' 'strict-dynamic' 'self' '${hash}'`,
    ],
    ["script-src 'self'; script-src-elem 'nonce-1'", `script-src 'self'; script-src-elem 'nonce-1' '${hash}'`],
    ["script-src 'unsafe-inline'", "script-src 'unsafe-inline'; script-src-elem 'unsafe-inline' 'self'"],
    [
      "script-src 'unsafe-inline' 'nonce-1'",
      `script-src 'unsafe-inline' 'nonce-1'; script-src-elem 'unsafe-inline' 'nonce-1' '${hash}'`,
    ],
    ["default-src 'self',script-src 'none'", `default-src 'self',script-src 'none'; script-src-elem '${hash}'`],
    [
      ["script-src 'none'", 'script-src x'],
      [`script-src 'none'; script-src-elem '${hash}'`, `script-src x; script-src-elem x '${hash}'`].join(),
    ],
  ] as const) {
    policy = typeof stated === 'string' ? stated : [...stated]
    for (const url of ['/page', '/unchanged']) {
      const { headers } = await app.inject({ url, headers: browser })
      t.equal([headers['content-security-policy']].flat().join(', '), expected, `${url} ${String(stated)}`)
    }
  }
})

t.test('the toolbar is only added where the body ends, not where its end tag is in a text', async t => {
  const app = await profiledApp(t)
  let body = ''
  app.get('/page', async (_request, reply) => reply.type('text/html').send(body))
  const here = '\u00a7'
  for (const text of [
    '<html><body>x<script>var a = "</body>"</script>',
    `<body>x<!-- </body> --><p title="</body>">${here}</BODY >\n</html><!-- in 3 ms -->\n`,
    `<body>x${here}</body><script src="/live.js"></script><script>live()</script></html>`,
    '<body>x<script>a.write("<body></body><script>b()<\\/script></html>")</script></html>',
    ...['<body>x<script>a = "</body><!--"</script>y<!-- end -->', '<body><a title="</body><!--">x</a><!-- end -->'],
    ...['<body><textarea></body></textarea>', '<body>x<script src="</body>"', '<body>text</body', 'text'],
  ]) {
    body = text.replace(here, '')
    const response = await app.inject({ url: '/page', headers: browser })
    t.equal(response.body.replace(/<script src="\/_profiler[^<]*<\/script>/, here), text)
    t.equal(response.headers['content-length'], String(Buffer.byteLength(response.body)))
  }
})

t.test('the toolbar is not added to responses that are not complete HTML pages', async t => {
  const app = await profiledApp(t)
  const html = async (url: string, headers: Record<string, string>, status = 200, body = page) => {
    app.get(url, async (_request, reply) => reply.code(status).type('text/html').headers(headers).send(body))
  }
  await html('/page', {})
  await html('/encoded', { 'content-encoding': 'gzip' })
  await html('/download', { 'content-disposition': 'attachment' })
  await html('/moved', { location: '/' }, 302)
  await html('/range', { 'content-range': `bytes 0-${page.length - 1}/100` }, 206)
  await html('/partial', {}, 206)
  await html('/part', {}, 200, '<p>part</p>')
  app.get('/json', async () => ({ html: page }))
  app.get('/stream', async (_request, reply) => reply.type('text/html').send(Readable.from([page])))
  app.get('/unchanged', async (_request, reply) => reply.code(304).type('text/html').send())
  app.get('/raw', (_request, reply) => {
    reply.hijack()
    reply.raw.setHeader('content-type', 'text/html')
    reply.raw.end(page)
  })
  for (const url of ['/encoded', '/download', '/moved', '/range', '/partial', '/stream', '/raw']) {
    t.equal((await app.inject({ url, headers: browser })).body, page, url)
  }
  t.equal((await app.inject({ url: '/part', headers: browser })).body, '<p>part</p>')
  t.same((await app.inject({ url: '/json', headers: browser })).json(), { html: page })
  t.equal((await app.inject({ url: '/unchanged', headers: browser })).body, '')
  const found = (await app.inject({ method: 'HEAD', url: '/page', headers: browser })).headers['content-length']
  t.equal(found, String(page.length))
  for (const headers of [{ 'x-requested-with': 'XMLHttpRequest' }, { 'sec-fetch-dest': 'empty' }, { accept: '*/*' }]) {
    t.equal((await app.inject({ url: '/page', headers: { ...browser, ...headers } })).body, page)
  }
  t.match((await app.inject({ url: '/page', headers: { ...browser, 'sec-fetch-dest': 'iframe' } })).body, 'toolbar.js')
})

t.test('repeated headers in a list for writeHead are all sent', async t => {
  const app = await profiledApp(t)
  const headers = ['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'Link', '<x>', 'Link', '<y>', 'X-One', '1']
  app.get('/flat', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, headers).end('ok')
  })
  app.get('/uneven', (_request, reply) => {
    reply.hijack()
    t.throws(() => reply.raw.writeHead(200, ['X-One']), { code: 'ERR_INVALID_ARG_VALUE' })
    reply.raw.writeHead(200).end('ok')
  })
  const { origin } = await listen(app)
  const { headers: got } = await fetch(`${origin}/flat`)
  t.strictSame(got.getSetCookie(), ['a=1', 'b=2'])
  t.match([got.get('link'), got.get('x-one')], ['<x>, <y>', '1'])
  t.ok(got.has('x-debug-token'))
  t.equal((await fetch(`${origin}/uneven`)).status, 200)
})

t.test('raw responses are left unchanged, however they are written', async t => {
  const app = await profiledApp(t)
  const type = { 'content-type': 'text/html' }
  const ways: Record<string, [write: (raw: ServerResponse) => unknown, status: string, body: string]> = {
    late: [raw => raw.writeHead(200, type) && turns().then(() => raw.end(page)), '200 OK', page],
    flushed: [
      raw => {
        raw.writeHead(200, 'Fine', type).flushHeaders()
        raw.end(page)
      },
      '200 Fine',
      page,
    ],
    array: [raw => raw.writeHead(200, ['content-type', 'text/html']).end(page), '200 OK', page],
    pieces: [
      raw => {
        raw.writeHead(200, type).write('<body>')
        raw.end('</body>', 'latin1')
      },
      '200 OK',
      '</body>',
    ],
    twice: [
      raw => {
        raw.writeHead(200, type).end(page)
        t.throws(() => raw.writeHead(500), { code: 'ERR_HTTP_HEADERS_SENT' })
      },
      '200 OK',
      page,
    ],
  }
  for (const [url, [write]] of Object.entries(ways)) {
    app.get(`/${url}`, (_request, reply) => {
      reply.hijack()
      write(reply.raw)
    })
  }
  const { port } = await listen(app)
  for (const [url, [, status, body]] of Object.entries(ways)) {
    const text = await getRaw(port, `/${url}`, 'host: localhost\r\naccept: text/html')
    t.ok(text.startsWith(`HTTP/1.1 ${status}\r\n`), url)
    t.match(text, body, url)
    t.notMatch(text, 'toolbar.js')
    t.match(text, 'x-debug-token')
    t.equal((await onlyProfile(t, app, `/${url}`)).outcome, 'hijacked')
  }
})

t.test("a panel that fails does not change the application's response, and says so on its page", async t => {
  const failing = (what: string) => () => {
    throw new Error(what)
  }
  const bad = {
    labels: failing('labels'),
    badge: failing('badge'),
    toolbarItem: failing('item'),
    view: failing('view'),
  }
  const app = await profiledApp(t, { panels: [{ name: 'bad', label: 'Bad', collect: () => 1, ...bad }] })
  app.get('/page', async (_request, reply) => reply.type('text/html').send(page))
  const { body, headers } = await app.inject({ url: '/page', headers: browser })
  t.match(body, 'toolbar.js')
  for (const accept of ['text/html', 'text/markdown']) {
    t.match(await pageOf(app, `${headers['x-debug-token']}?panel=bad`, accept), 'could not be shown: Error: view')
  }
})

t.test("the time to make a toolbar is the profiler's cost and not the request's", async t => {
  let spent = 0
  const toolbarItem = () => {
    const start = performance.now()
    while (spent < 100) spent = performance.now() - start
    return null
  }
  const slow = { name: 'slow', label: 'Slow', collect: () => 1, toolbarItem, view: () => [] }
  const app = await profiledApp(t, { panels: [slow] })
  app.addHook('onResponse', async function afterwards() {})
  app.get('/page', async (_request, reply) => reply.type('text/html').send(page))
  await app.ready()
  const start = performance.now()
  await app.inject({ url: '/page', headers: browser })
  const { duration, spans, cost, eventLoop } = await onlyProfile(t, app, '/page')
  const others = performance.now() - start - spent
  t.ok(duration <= others, `${duration} of ${others} ms`)
  t.ok(eventLoop.active <= others, `${eventLoop.active} ms of the event loop, of ${others}`)
  const found = spans.every(({ start, duration }) => start + duration <= others)
  t.ok(found, 'no later span includes it')
  t.ok(cost.trace >= spent * 1000 - 1, `${cost.trace} µs`)
  t.equal(cost.store, 0, 'no profile was stored before')
  const shown = await pageOf(app, 'latest')
  t.match(shown, /Profiling took \d+ ms: \d{3,} ms up to the response, [\d.]+ (?:µs|ms) after it\.</)
})

t.test('the link to a profile uses the local address and port if the host is invalid', async t => {
  const app = await profiledApp(t)
  const { port, origin } = await listen(app)
  const linkFor = async (hosts: string) => {
    const answer = await sendRaw(port, `GET / HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`)
    return /^x-debug-token-link: (.*)\r$/m.exec(answer)?.[1] ?? answer
  }
  const invalid =
    'foo bar|foo\r\nhost: bar||a..b|.a|foo:abc|a:80:81|a:|a:99999|a/b|a@b|a<b|a,b|m\u00fc|1.2.3.999|[::1|[1.2.3]'
  for (const hosts of invalid.split('|')) {
    const link = await linkFor(`host: ${hosts}\r\n`)
    t.match(link, `${origin}/_profiler/`, hosts)
  }
  for (const host of ['localhost', `127.0.0.1:${port}`, '[::1]:80', 'foo_bar', '-a-.b:8080', 'a.']) {
    t.match(await linkFor(`host: ${host}\r\n`), `http://${host}/_profiler/`)
  }
})

t.test('a link has brackets around an IPv6 address, but not around an IPv4-mapped one', { skip: !hasIpv6 }, async t => {
  const app = await profiledApp(t)
  const origin = await app.listen({ port: 0, host: '::' })
  const { port } = new URL(origin)
  for (const [address, host] of [
    ['::1', '[::1]'],
    ['127.0.0.1', '127.0.0.1'],
  ] as const) {
    const socket = connect(Number(port), address)
    socket.end('GET / HTTP/1.1\r\nhost: foo bar\r\nconnection: close\r\n\r\n')
    t.match(await text(socket), `x-debug-token-link: http://${host}:${port}/_profiler/`)
  }
})

t.test('links use the origin of the request, that of a trusted proxy, or the one in the options', async t => {
  const app = await profiledApp(t)
  const proxied = await profiledApp(t, {}, { trustProxy: true })
  const behind = await profiledApp(t, { linkOrigin: 'https://debug.test', base: '/-/profiler' })
  const forwarding = (host: string) => ({ host: 'localhost', 'x-forwarded-host': host, 'x-forwarded-proto': 'https' })
  for (const [asked, headers, link] of [
    [app, { host: 'museum.test:8080' }, 'http://museum.test:8080/_profiler/'],
    [app, { host: 'a"b' }, 'http://localhost/_profiler/'],
    [behind, {}, 'https://debug.test/-/profiler/'],
    [proxied, forwarding('127.0.0.1:8443'), 'https://127.0.0.1:8443/_profiler/'],
    [proxied, forwarding('a"b'), 'https://localhost/_profiler/'],
    [app, forwarding('127.0.0.1:8443'), 'http://localhost/_profiler/'],
  ] as const) {
    t.match((await asked.inject({ url: '/', headers })).headers['x-debug-token-link'], link)
  }
})

t.test('a page written to the raw response without hijacking is treated like any other', async t => {
  const frameworkErrors: FastifyServerOptions['frameworkErrors'] = (_error, _request, { raw }) => {
    raw.statusCode = 400
    raw.end('mine')
  }
  const app = await profiledApp(t, {}, { frameworkErrors })
  const send = (url: string, body: string, encoding: BufferEncoding = 'utf8') =>
    app.get(url, (_request, { raw }) => {
      raw.setHeader('content-type', 'text/html')
      raw.end(body, encoding)
    })
  send('/text', '<body>caf\u00e9</body>')
  send('/encoded', '<body>caf\u00e9</body>', 'latin1')
  send('/part', '<p>caf\u00e9</p>', 'latin1')
  app.get('/pieces', (_request, { raw }) => {
    raw.writeHead(200, { 'content-type': 'text/html' }).write(page)
    raw.end('<!-- more -->')
  })
  t.match((await app.inject({ url: '/%zz', headers: browser })).body, 'Stack Traces')
  t.equal((await app.inject('/%zz')).body, 'mine')
  t.match((await app.inject({ url: '/text', headers: browser })).body, /^<body>caf\u00e9<script /)
  t.equal((await app.inject({ url: '/pieces', headers: browser })).body, `${page}<!-- more -->`)
  for (const [url, start] of [
    ['/encoded', '<body>caf\u00e9<script '],
    ['/part', '<p>caf\u00e9</p>'],
  ] as const) {
    const { rawPayload, headers } = await app.inject({ url, headers: browser })
    t.equal(headers['content-length'], String(rawPayload.length))
    t.ok(rawPayload.toString('latin1').startsWith(start), url)
  }
})

t.test('a status that Node refuses is refused where it is written, and the answer goes on', async t => {
  const app = await profiledApp(t)
  app.setNotFoundHandler((_request, reply) => {
    for (const status of [99, 1404]) {
      t.throws(() => reply.raw.writeHead(status), { code: 'ERR_HTTP_INVALID_STATUS_CODE' })
    }
    reply.code(404).send('nothing here')
  })
  const { statusCode, body } = await app.inject({ url: '/nowhere', headers: browser })
  t.equal(statusCode, 404)
  t.match(body, 'Exceptions')
})
