import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect as connectHttp2 } from 'node:http2'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import t from 'tap'
import type { OpenSpan } from '../index.ts'
import { fakeClock } from './fake-clock.ts'
import { makeFolder } from './folder.ts'
import {
  deferred,
  everythingStored,
  getRaw,
  keepBusy,
  keptLines,
  listen,
  onlyProfile,
  pageOf,
  plainApp,
  profiledApp,
  profileOf,
  sendAndLeave,
  sendRaw,
  turns,
} from './profiled-app.ts'

const answers: Array<{ url: string; method?: 'GET' | 'POST'; payload?: string; status: number }> = [
  { url: '/fine', status: 200 },
  { url: '/nowhere', status: 404 },
  { url: '/not-allowed', status: 405 },
  { url: '/moved', status: 301 },
  { url: '/%zz', status: 400 },
  { url: '/json', method: 'POST', payload: '{', status: 400 },
  { url: '/forbidden', status: 403 },
  { url: '/broken', status: 500 },
  { url: '/streamed', status: 200 },
  { url: '/hijacked', status: 202 },
]

async function appWithEveryAnswer(t: Parameters<typeof profiledApp>[0]) {
  const app = await profiledApp(t)
  app.get('/fine', async () => ({ fine: true }))
  app.get('/not-allowed', async (_request, reply) => reply.code(405).header('allow', 'PUT').send({ no: true }))
  app.get('/moved', async (_request, reply) => reply.redirect('/fine', 301))
  app.post('/json', async () => 'never')
  app.get(
    '/forbidden',
    { onRequest: async (_request, reply) => reply.code(403).send({ no: true }) },
    async () => 'never',
  )
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  app.get('/streamed', async (_request, reply) => reply.send(Readable.from(['a', 'b', 'c'])))
  app.get('/hijacked', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(202, { 'content-type': 'text/plain' })
    // One chunk, as Fastify until 5.8 writes every body.
    reply.raw.write('mine')
    reply.raw.end()
  })
  return app
}

t.test('every request has exactly one profile with its status, injected or through a socket', async t => {
  const [injected, listening] = [await appWithEveryAnswer(t), await appWithEveryAnswer(t)]
  const { port, origin } = await listen(listening)
  for (const { url, method = 'GET', payload, status } of answers) {
    const type = payload === undefined ? {} : { 'content-type': 'application/json' }
    const { headers } = await injected.inject({ url, method, headers: type, ...(payload !== undefined && { payload }) })
    const profile = await onlyProfile(t, injected, url)
    t.match(profile, { status, outcome: url === '/hijacked' ? 'hijacked' : 'completed', token: /^[\w-]{12}$/ }, url)
    t.equal(profile.token, headers['x-debug-token'])
    t.equal(profile.response.streamed, url === '/streamed')
    const body = payload === undefined ? '' : `content-type: application/json\r\ncontent-length: ${payload.length}\r\n`
    const head = `${method} ${url} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n${body}`
    const text = await sendRaw(port, `${head}\r\n${payload ?? ''}`)
    const { status: found, token } = await onlyProfile(t, listening, url)
    t.equal(found, status, url)
    t.ok(text.startsWith(`HTTP/1.1 ${status} `))
    t.match(text, `x-debug-token: ${token}\r\nx-debug-token-link: ${origin}/_profiler/${token}\r\n`)
    t.match(text, new RegExp(`server-timing: token;desc="${token}", total;dur=\\d`))
    t.match(text, 'x-robots-tag: noindex\r\n')
  }
  t.equal(injected.profiler.pending, 0)
})

t.test('a bare Fastify without profiledOptions() is profiled too, including malformed URLs', async t => {
  const app = await plainApp(t)
  app.get('/', async () => 'bare')
  const { port } = await listen(app)
  for (const path of ['/', '/%zz']) await getRaw(port, path)
  const { profiles } = await app.profiler.search({})
  const found = profiles.map(({ url, status }) => `${url} ${status}`)
  t.same(found, ['/%zz 400', '/ 200'])
  const { notes } = await onlyProfile(t, app, '/%zz')
  t.match(notes, [/^Fastify logs nothing, since the application was made without a logger\..* recordedLogger\(\)\.$/])
  // Without a Host header and, since the URL cannot be decoded, without a Fastify request.
  t.match(await sendRaw(port, 'GET /%zy HTTP/1.0\r\n\r\n'), `x-debug-token-link: http://127.0.0.1:${port}/_profiler/`)
  t.match(await onlyProfile(t, app, '/%zy'), { host: null, protocol: 'http' })
  await getRaw(port, `http://localhost:${port}?a=1&a=2&a=3&b=4`)
  t.match(await onlyProfile(t, app, '?a=1'), { path: '/', request: { query: { a: ['1', '2', '3'], b: '4' } } })
})

t.test('a request that Fastify rejects before any hook runs has its error in its profile', async t => {
  const app = await plainApp(t)
  app.get('/:long', async () => 'long')
  const { origin } = await listen(app)
  const errors = async (path: string, status: number) => {
    const response = await fetch(origin + path)
    t.equal(response.status, status)
    await response.text()
    await everythingStored(app)
    const profile = await app.profiler.find(response.headers.get('x-debug-token') ?? '')
    return profile?.exceptions.map(({ code, message }) => `${String(code)} ${message}`)
  }
  t.same(await errors('/%zz', 400), ["FST_ERR_BAD_URL '/%zz' is not a valid url component"])
  const long = 'x'.repeat(101)
  t.same(await errors(`/${long}`, 414), [`FST_ERR_MAX_PARAM_LENGTH '/${long}' is exceeding the max param length`])
  t.equal((await app.inject('/%zz')).headers['x-debug-token'], undefined, 'an injected one has no profile')
})

t.test('a request that a constraint rejects has a profile without an error of its URL', async t => {
  const app = await plainApp(t)
  app.addConstraintStrategy({
    name: 'failing',
    storage: () => ({ get: () => null, set() {} }),
    validate() {},
    deriveConstraint(_request: unknown, _context: unknown, done?: (error: Error) => void) {
      done?.(new Error('no'))
    },
  })
  app.get('/', { constraints: { failing: 'never' } }, async () => 'never')
  const { origin } = await listen(app)
  t.equal((await fetch(origin)).status, 500)
  t.match(await onlyProfile(t, app, '/'), { status: 500, exceptions: [] })
})

t.test('a server on both addresses of localhost is profiled on both, and a server of others is not', async t => {
  const app = await profiledApp(t)
  app.get('/', async () => 'both')
  await app.listen({ port: 0, host: 'localhost' })
  for (const listening of app.addresses()) {
    if (typeof listening === 'string') continue
    const { address, port, family } = listening
    const host = family === 'IPv6' ? `[${address}]` : address
    const response = await fetch(`http://${host}:${port}/%zz`)
    t.match(await response.text(), 'FST_ERR_BAD_URL')
    t.ok(response.headers.get('x-debug-token'))
  }
  const { total } = await app.profiler.search({ url: '/%zz' })
  t.equal(total, app.addresses().length)
  // As Fastify makes one for a second address, which not every machine has.
  const sibling = createServer(app.routing)
  const stranger = createServer((_request, response) => response.end('not ours'))
  for (const server of [sibling, stranger]) {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => server.close())
    const answer = await fetch(`http://127.0.0.1:${Object(server.address()).port}/%zz`)
    t.equal((await answer.text()) === 'not ours', server === stranger)
    t.equal(answer.headers.has('x-debug-token'), server === sibling)
  }
})

t.test('a malformed URL interrupts kernel.request before any listener', async t => {
  const { exceptions, lifecycle } = await profileOf(await profiledApp(t), '/%zz')
  t.equal(exceptions[0]?.code, 'FST_ERR_BAD_URL')
  t.same(lifecycle[0]?.interrupted, { span: null, exception: 0 })
  t.type(lifecycle[0]?.start, 'number', 'kernel.request was reached')
})

t.test('a client that leaves early makes an aborted request', async t => {
  const app = await profiledApp(t)
  const [begun, left, ended] = [deferred(), deferred(), deferred()]
  app.get('/slow', async ({ recorder, log }) => {
    begun.resolve()
    await left.promise
    log.info('too late')
    recorder?.span({ kind: 'query', name: 'too late' }).end()
    ended.resolve()
  })
  const { port } = await listen(app)
  await sendAndLeave(port, 'GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n', begun.promise)
  await everythingStored(app)
  const profile = await onlyProfile(t, app, '/slow')
  t.match(profile, { outcome: 'aborted', status: null })
  t.equal(profile.spans.find(({ kind }) => kind === 'handler')?.outcome, 'unfinished')
  left.resolve()
  await ended.promise
  await turns(3)
  t.same(await onlyProfile(t, app, '/slow'), profile, 'later events are not recorded')
})

t.test('a response that the server breaks off is not an aborted one, and has the error that broke it', async t => {
  const app = await profiledApp(t)
  const headSent = async ({ raw }: { raw: ServerResponse }) => {
    while (!raw.headersSent) await turns()
  }
  async function* failing(reply: { raw: ServerResponse }) {
    yield 'a'
    await headSent(reply)
    throw new Error('in stream')
  }
  app.get('/stream', async (_request, reply) => reply.send(Readable.from(failing(reply))))
  app.get('/web', async (_request, reply) => reply.send(Readable.toWeb(Readable.from(failing(reply)))))
  app.get('/response', async (_request, reply) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('a'))
      },
      async pull(controller) {
        await headSent(reply)
        controller.error(new Error('in stream'))
      },
    })
    return reply.send(new Response(body))
  })
  app.get('/hooked', {
    onSend: (_request, reply, _payload, done) => done(null, Readable.from(failing(reply))),
    handler: async () => 'whole',
  })
  app.get('/raw', (_request, reply) => {
    reply.hijack()
    pipeline(Readable.from(failing(reply)), reply.raw, () => {})
  })
  app.get('/destroyed', (_request, reply) => {
    reply.hijack()
    reply.raw.write('a')
    reply.raw.destroy(new Error('in stream'))
  })
  const { port } = await listen(app)
  for (const url of ['/stream', '/web', '/response', '/hooked', '/raw', '/destroyed']) {
    await getRaw(port, url)
    await everythingStored(app)
    const { outcome, status, exceptions, token } = await onlyProfile(t, app, url)
    t.same([outcome, status, exceptions.map(({ message }) => message)], ['broken', 200, ['in stream']], url)
    t.match(await pageOf(app, token), '<span class="badge error">Response cut off by the server</span>')
    t.match(await pageOf(app, token, 'text/markdown'), '- Outcome: Response cut off by the server')
  }
  t.equal((await app.profiler.search({ exception: 'in stream' })).total, 6)
})

t.test('a stream that fails before the head is sent makes a failed request with a complete response', async t => {
  const app = await profiledApp(t)
  const failing = () =>
    Readable.from(
      (async function* () {
        throw new Error('at once')
      })(),
    )
  app.get('/stream', async (_request, reply) => reply.send(failing()))
  app.get('/web', async (_request, reply) => reply.send(Readable.toWeb(failing())))
  app.get('/destroyed', (_request, reply) => {
    reply.raw.destroy()
  })
  for (const url of ['/stream', '/web']) {
    t.equal((await app.inject(url)).statusCode, 500)
    const { outcome, exceptions } = await onlyProfile(t, app, url)
    t.same([outcome, exceptions.map(({ message }) => message)], ['completed', ['at once']])
  }
  await t.rejects(app.inject('/destroyed'))
  t.match(await onlyProfile(t, app, '/destroyed'), { outcome: 'broken', status: null, exceptions: [] })
})

t.test('a client that leaves during a stream makes an aborted request, through a socket or injected', async t => {
  const app = await profiledApp(t)
  let begun = deferred()
  async function* endless() {
    for (;;) {
      yield 'a'
      begun.resolve()
      await turns()
    }
  }
  app.get('/stream', async (_request, reply) => reply.send(Readable.from(endless())))
  const { port } = await listen(app)
  await sendAndLeave(port, 'GET /stream?socket HTTP/1.1\r\nhost: localhost\r\n\r\n', begun.promise)
  begun = deferred()
  const leaving = new AbortController()
  app.inject({ url: '/stream?injected', signal: leaving.signal }, () => {})
  await begun.promise
  leaving.abort()
  await everythingStored(app)
  for (const url of ['/stream?socket', '/stream?injected']) {
    t.match(await onlyProfile(t, app, url), { outcome: 'aborted', status: 200, exceptions: [] }, url)
  }
})

t.test('a response queued behind another has no status until its turn comes', async t => {
  const app = await profiledApp(t)
  let answered = deferred()
  let first = deferred()
  app.get('/first', async () => {
    await first.promise
    return 'first'
  })
  app.get('/second', {
    onSend: async () => {
      setImmediate(() => answered.resolve())
    },
    handler: async () => 'second',
  })
  app.get('/flushed', (_request, reply) => {
    reply.hijack()
    reply.raw.flushHeaders()
    reply.raw.end('flushed')
  })
  const { port } = await listen(app)
  const requests = ['/first', '/flushed', '/nowhere', '/second']
  const asked = (query: string) =>
    requests
      .map(
        url =>
          `GET ${url}${query} HTTP/1.1\r\nhost: localhost\r\n${query === '?stays' && url === '/second' ? 'connection: close\r\n' : ''}\r\n`,
      )
      .join('')
  await sendAndLeave(port, asked('?leaves'), answered.promise)
  await everythingStored(app)
  for (const url of requests) {
    t.match(await onlyProfile(t, app, `${url}?leaves`), { outcome: 'aborted', status: null }, url)
  }
  first.resolve()
  answered = deferred()
  first = answered
  t.match(await sendRaw(port, asked('?stays')), /200 OK[^]*200 OK[^]*404 Not Found[^]*200 OK/)
  for (const url of requests) {
    t.match(await onlyProfile(t, app, `${url}?stays`), { status: url === '/nowhere' ? 404 : 200 }, url)
  }
})

t.test('a handler that has not replied when the client leaves is unfinished', async t => {
  const app = await profiledApp(t)
  const { promise, resolve } = deferred()
  app.get('/owed', async (_request, reply) => {
    setImmediate(resolve)
    return reply
  })
  const { port } = await listen(app)
  await sendAndLeave(port, 'GET /owed HTTP/1.1\r\nhost: localhost\r\n\r\n', promise)
  await everythingStored(app)
  const { outcome, status, duration, spans } = await onlyProfile(t, app, '/owed')
  t.same([outcome, status], ['aborted', null])
  t.match(spans, [{ kind: 'handler', outcome: 'unfinished' }])
  // Both are rounded to microseconds.
  t.ok(spans.every(span => span.duration > duration - span.start - 0.01))
})

t.test('a request that ends while the profiler stops has one profile', async t => {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory, patience: 5000 })
  const [begun, released] = [deferred(), deferred()]
  let query: OpenSpan | undefined
  app.get('/waiting', async ({ recorder }) => {
    query = recorder?.span({ kind: 'query', name: 'slow' })
    return 'ok'
  })
  app.get('/late', async (_request, { raw }) => {
    raw.once('close', () => query?.end())
    begun.resolve()
    await released.promise
    return 'ok'
  })
  await app.inject('/waiting')
  const late = app.inject('/late')
  await begun.promise
  const stopped = app.profiler.stop()
  released.resolve()
  await Promise.all([late, stopped])
  await everythingStored(app)
  const next = await profiledApp(t, { directory })
  t.equal((await onlyProfile(t, next, '/late')).status, 200)
})

t.test('a request that never ends is stored as unfinished when the application closes', async t => {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory })
  const { promise, resolve } = deferred()
  app.get('/endless', () => {
    resolve()
  })
  const leaving = new AbortController()
  const left = deferred()
  app.inject({ url: '/endless', signal: leaving.signal }, left.resolve)
  await promise
  t.equal(app.profiler.pending, 1)
  await app.close()
  t.equal(app.profiler.pending, 0)
  leaving.abort()
  await left.promise
  await turns(3)
  const next = await profiledApp(t, { directory })
  t.equal((await onlyProfile(t, next, '/endless')).outcome, 'unfinished')
})

t.test('a request injected by another names that one as its parent', async t => {
  const app = await profiledApp(t)
  app.get('/inner', async () => 'inner')
  app.get('/outer', async () => (await app.inject('/inner')).body)
  const response = await app.inject('/outer')
  const inner = await onlyProfile(t, app, '/inner')
  t.equal(inner.parent, response.headers['x-debug-token'])
  t.match(await pageOf(app, String(inner.parent)), `href="/_profiler/${inner.token}">200 GET /inner`)
  t.match(await pageOf(app, inner.token, 'text/markdown'), `- Parent request: \`${inner.parent}\``)
})

t.test('a panel that fails to collect adds a note and does not harm the request', async t => {
  const fail = () => {
    throw new Error('no data')
  }
  const app = await profiledApp(t, { panels: [{ name: 'bad', label: 'Bad', collect: fail, view: fail }] })
  app.get('/', async () => 'ok')
  t.equal((await app.inject('/')).body, 'ok')
  t.match((await onlyProfile(t, app, '/')).notes, ['The panel "bad" failed to collect: Error: no data'])
})

t.test("the profiler's pages are its own however their path is written, and run no other hook", async t => {
  const rewriteUrl = ({ url = '' }) => url.replace('/rewritten', '/_profiler/')
  const routerOptions = { caseSensitive: false, ignoreDuplicateSlashes: true }
  const app = await profiledApp(t, {}, { routerOptions, rewriteUrl })
  app.addHook('onRequest', async (_request, reply) => reply.code(401).send('nobody'))
  app.addHook('onSend', async () => 'replaced')
  const { port } = await listen(app)
  const absolute = ['http://evil.test/_profiler/latest', 'http://evil.test/_profiler/no/such/page']
  const spellings = ['/%5fprofiler/', '/_%70rofiler', '/%5Fprofiler/latest', '/_PROFILER/', '//_profiler//search']
  for (const url of [...spellings, ...absolute, '/rewritten']) {
    const { body, headers, statusCode } = await app.inject(url)
    t.not(statusCode, 401, url)
    t.not(body, 'replaced', url)
    t.equal(headers['x-debug-token'], undefined)
    t.notMatch(await getRaw(port, url, 'host: localhost\r\naccept: text/html'), /x-debug-token|toolbar\.js/)
  }
  t.equal(app.profiler.pending, 0)
  t.notOk((await app.inject('/_profiler/none/such')).headers['x-debug-token'])
  t.equal((await app.profiler.search({})).total, 0)
  await app.inject('/_profiler-like')
  t.equal((await app.profiler.search({})).total, 1)
})

t.test("viewing profiles writes nothing to the application's log", async t => {
  const { logger, messages } = keptLines('trace')
  const app = await profiledApp(t, {}, { logger })
  await app.ready()
  for (const url of ['/_profiler/', '/_profiler/latest', '/_profiler/assets/toolbar.js', '/%5fprofiler/']) {
    await app.inject(url)
  }
  t.same(messages, [])
})

t.test('a profile that waits for a span only delays those who ask for it', async t => {
  const app = await profiledApp(t, { patience: 5000 })
  let query: OpenSpan | undefined
  app.get('/waiting', async ({ recorder }) => {
    query = recorder?.span({ kind: 'query', name: 'slow' })
    return 'ok'
  })
  app.get('/fine', async () => 'ok')
  const { headers: fine } = await app.inject('/fine')
  const { headers: waiting } = await app.inject('/waiting')
  const asked = [app.profiler.find(String(waiting['x-debug-token'])), app.profiler.find('latest')]
  t.equal((await app.profiler.find(String(fine['x-debug-token'])))?.url, '/fine')
  const others = [`/_profiler/${fine['x-debug-token']}`, '/_profiler/unknown', '/_profiler/', '/_profiler/search_bar']
  for (const url of others) {
    await app.inject(url)
  }
  const urls = (await app.profiler.search({})).profiles.map(({ url }) => url)
  t.same(urls, ['/fine'], 'lists show what is stored')
  t.equal(app.profiler.pending, 1, 'it is still waiting')
  query?.end()
  const found = (await Promise.all(asked)).map(profile => profile?.url)
  t.same(found, ['/waiting', '/waiting'])
})

t.test('what runs between a response and the making of its profile is none of its time', async t => {
  const app = await profiledApp(t)
  app.get('/', async () => 'ok')
  await keepBusy(app)
  const start = performance.now()
  const { headers } = await app.inject('/')
  const took = performance.now() - start
  while (performance.now() - start < took + 100);
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.ok(Number(profile?.eventLoop.active) <= took, `${profile?.eventLoop.active} ms of the event loop, of ${took}`)
  t.ok(Number(profile?.duration) <= took, `${profile?.duration} ms, of ${took}`)
})

t.test('no request is told to have blocked others while its profile was made', async t => {
  const collect = () => {
    const start = performance.now()
    while (performance.now() - start < 60);
    return null
  }
  const app = await profiledApp(t, { panels: [{ name: 'slow', label: 'Slow', collect, view: () => [] }] })
  app.get('/', async () => 'ok')
  const { promise, resolve } = deferred()
  app.get('/other', async () => promise)
  const other = app.inject('/other')
  const made = await profileOf(app, '/')
  // The timer that notices blocks is overdue.
  await turns(2)
  resolve()
  await other
  const { blocked } = (await onlyProfile(t, app, '/other')).eventLoop
  t.same(
    blocked.filter(({ by, duration }) => by === made.token && duration >= 50),
    [],
  )
})

t.test('a panel collects in the asynchronous scope of its own request, while others run', async t => {
  const scope = new AsyncLocalStorage<string>()
  const panel = { name: 'scope', label: 'Scope', collect: () => scope.getStore() ?? null, view: () => [] }
  const app = await profiledApp(t, { panels: [panel] })
  app.addHook('onRequest', (request, _reply, done) => scope.run(request.url, done))
  const urls = ['/1', '/2', '/3']
  for (const url of urls) app.get(url, async () => 'ok')
  await keepBusy(app)
  await Promise.all(urls.map(url => app.inject(url)))
  for (const url of urls) t.equal((await onlyProfile(t, app, url)).panels.scope, url)
})

t.test('what a panel does while it collects is no work of its request', async t => {
  const directory = makeFolder()
  const collect = ({ request }: { request: FastifyRequest | null }) => request?.log.warn('Collecting') ?? null
  const app = await profiledApp(t, { directory, panels: [{ name: 'talks', label: 'Talks', collect, view: () => [] }] })
  app.get('/talk', async () => 'ok')
  await keepBusy(app)
  const { headers } = await app.inject('/talk')
  await app.profiler.find(String(headers['x-debug-token']))
  // Late work is stored at the latest now.
  await app.close()
  const reader = await profiledApp(t, { directory })
  const { logs } = await onlyProfile(t, reader, '/talk')
  t.same(
    logs.map(({ message }) => message),
    ['incoming request', 'request completed'],
  )
})

// Without a certificate, since nothing secret is at stake.
const anonymous = { ciphers: 'aNULL@SECLEVEL=0', dhparam: 'auto', maxVersion: 'TLSv1.2' } as const

t.test('a request over HTTP/2 with TLS is one of https', async t => {
  const app = await plainApp(t, { http2: true, https: anonymous })
  app.get('/', async () => 'ok')
  const { port } = await listen(app)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ...anonymous, rejectUnauthorized: false })
  t.teardown(() => session.close())
  await once(session.request({ ':path': '/' }).resume(), 'close')
  await everythingStored(app)
  t.match(await onlyProfile(t, app, '/'), { protocol: 'https', httpVersion: '2.0', ip: '127.0.0.1' })
})

t.test('an error of another realm, as jest makes them, has its class, frames, members and cause', async t => {
  const app = await profiledApp(t)
  const source = "new AggregateError([new TypeError('No roof')], 'No museum', { cause: new Error('No wood') })"
  app.get('/', async () => {
    throw runInNewContext(source, {}, { filename: join(import.meta.dirname, 'realm.js') })
  })
  const { exceptions } = await profileOf(app, '/')
  t.same(
    exceptions.map(({ class: name, message }) => `${name}: ${message}`),
    ['AggregateError: No museum', 'TypeError: No roof', 'Error: No wood'],
  )
  t.match(exceptions[0]?.frames[0]?.file, 'realm.js')
})

t.test('the link to a profile is https for an application over TLS, even for a malformed URL', async t => {
  const app = await plainApp(t, { https: anonymous })
  const { port } = await listen(app)
  const socket = connect({ ...anonymous, port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.write('GET /%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  t.match(await text(socket), 'x-debug-token-link: https://localhost/_profiler/')
  t.equal((await onlyProfile(t, app, '/%zz')).protocol, 'https')
})

t.test('validating an input is a span, whether it passes, fails or is left to the handler', async t => {
  const app = await profiledApp(t)
  const schema = { params: { type: 'object', properties: { id: { type: 'integer' } } } }
  app.get('/default/:id', { schema, preValidation: async function before() {} }, async () => 'ok')
  app.get('/attached/:id', { schema, attachValidation: true }, async () => 'ok')
  app.get('/own/:id', { schema, errorHandler: async () => ({ no: true }) }, async () => 'ok')
  for (const [url, outcome] of [
    ['/default/1', 'continued'],
    ['/default/no', 'threw'],
    ['/attached/no', 'continued'],
    ['/own/no', 'threw'],
  ] as const) {
    const { spans, exceptions, lifecycle } = await profileOf(app, url)
    const span = spans.findIndex(({ kind }) => kind === 'validation')
    t.match(spans[span], { name: 'validation', dispatchPoint: 'kernel.controller', outcome }, url)
    const codes = exceptions.map(({ code }) => code)
    t.same(codes, outcome === 'threw' ? ['FST_ERR_VALIDATION'] : [])
    t.same(lifecycle[1]?.interrupted, outcome === 'threw' ? { span, exception: 0 } : null)
  }
})

t.test('Server-Timing sums up everything that ran, including hooks outside dispatch points', async t => {
  const app = await profiledApp(t)
  app.addHook('onError', async function watch() {})
  app.get('/', async () => {
    throw new Error('no')
  })
  const { headers } = await app.inject('/')
  t.match(headers['server-timing'], /^token;desc="[\w-]{12}", total;dur=[\d.]+, handler;dur=[\d.]+, other;dur=[\d.]+$/)
})

t.test('Server-Timing counts nested spans of the same name once', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.addHook('onRequest', async function asking({ recorder }) {
    const query = recorder?.span({ kind: 'query', name: 'select' })
    await sleep(20)
    query?.end()
  })
  app.get('/', async () => 'ok')
  const { headers } = await app.inject('/')
  t.match(headers['server-timing'], /total;dur=20, kernel\.request;dur=20, query;dur=20,/)
})

t.test('Server-Timing counts calls that have not ended until the head is sent', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.get('/', async ({ recorder }, reply) => {
    const call = recorder?.span({ kind: 'http', name: 'GET /' })
    reply.raw.once('finish', () => call?.end())
    await sleep(20)
    return reply.send(Readable.from(['a', 'b']))
  })
  t.match((await app.inject('/')).headers['server-timing'], /total;dur=20, handler;dur=20, http;dur=20$/)
})

const bodyChanges: Record<string, (app: FastifyInstance) => void> = {
  'a handler changes it': app => {
    app.post<{ Body: { model?: string; lines: Array<{ id: number }> } }>('/', async ({ body }) => {
      delete body.model
      for (const line of body.lines) line.id = 0
      body.lines.push({ id: 7 })
    })
  },
  'a hook replaces it': app => {
    app.addHook('preValidation', async request => {
      request.body = { other: true }
    })
    app.post('/', async () => 'ok')
  },
  'its validation changes it': app => {
    const properties = { lines: { type: 'array' }, added: { default: 1 } }
    app.post('/', { schema: { body: { type: 'object', additionalProperties: false, properties } } }, async () => 'ok')
  },
  'its parser gives it a prototype of its own, as that of forms does': app => {
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
      done(null, Object.assign(Object.create(Object.create(null)), JSON.parse(String(text))))
    })
    app.post('/', async request => {
      Object.assign(Object(request.body), { model: 'other' })
    })
  },
  'a handler of an unmatched URL changes it': app => {
    app.setNotFoundHandler(async request => {
      Object.assign(Object(request.body), { model: 'other' })
    })
  },
}

for (const [what, addRoutes] of Object.entries(bodyChanges)) {
  t.test(`the body is the one that was sent, also if ${what}`, async t => {
    const app = await profiledApp(t)
    addRoutes(app)
    const payload = { model: 'local,gpt', lines: [{ id: 1 }, { id: 2 }] }
    const { request, token } = await profileOf(app, { method: 'POST', url: '/', payload })
    t.same(request.body, payload)
    t.match(await pageOf(app, `${token}/curl`), `--data-raw '${JSON.stringify(payload)}'`)
    const { postData } = JSON.parse(await pageOf(app, `${token}/har`)).log.entries[0].request
    t.equal(postData.text, JSON.stringify(payload))
  })
}

t.test('a secret that a handler takes out of the body is masked', async t => {
  const app = await profiledApp(t)
  app.post<{ Body: { user: { password?: string } } }>('/', async ({ body: { user }, log }) => {
    const { password } = user
    delete user.password
    log.info(`It was ${password}`)
  })
  const payload = { user: { name: 'Ada', password: 'Xk92fQ7-mW4zLp' } }
  const profile = await profileOf(app, { method: 'POST', url: '/', payload })
  t.match(profile.request.body, { user: { name: 'Ada', password: '[masked]' } })
  t.notMatch(JSON.stringify(profile), 'Xk92fQ7-mW4zLp')
})

t.test('a large body is shown as it was sent up to the bounds, and the rest of it is counted', async t => {
  const app = await profiledApp(t, { profileBounds: { values: 10, depth: 3 } })
  app.post<{ Body: Array<{ id: number }> }>('/', async ({ body }) => {
    for (const row of body) row.id = 0
  })
  const rows = Array.from({ length: 100 }, (_, id) => ({ id }))
  const { request } = await profileOf(app, { method: 'POST', url: '/', payload: rows })
  t.same(request.body, [...rows.slice(0, 5), '… shortened, 95 more'])
})

t.test('a body that a hook has parsed is shown as it is in the end', async t => {
  const app = await profiledApp(t)
  app.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload))
  app.addHook('preValidation', async request => {
    if (request.body instanceof Readable) request.body = { rows: await text(request.body) }
  })
  app.post('/', async () => 'ok')
  const headers = { 'content-type': 'text/csv' }
  const { request } = await profileOf(app, { method: 'POST', url: '/', headers, payload: 'a,b' })
  t.same(request.body, { rows: 'a,b' })
})

t.test('the status is the one that was sent, even if another is set later', async t => {
  const app = await profiledApp(t)
  app.addHook('onSend', async () => {
    await turns()
  })
  app.get('/200', (_request, reply) => {
    reply.send('one')
    reply.send('two')
  })
  app.get('/204', (_request, reply) => {
    reply.code(204).send()
    reply.send('two')
  })
  app.get('/202', (_request, reply) => {
    reply.hijack()
    reply.raw.statusCode = 202
    reply.raw.flushHeaders()
    reply.raw.statusCode = 500
    reply.raw.end('late')
  })
  for (const status of [200, 202, 204]) {
    const { statusCode } = await app.inject(`/${status}`)
    // An injected response tells the last one.
    if (status !== 202) t.equal(statusCode, status)
    t.equal((await onlyProfile(t, app, `/${status}`)).status, status)
    t.equal((await app.profiler.search({ status: String(status) })).total, 1)
  }
})

t.test('the size of a body counts the bytes received, whoever reads them', async t => {
  const app = await profiledApp(t)
  const left = deferred()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.once('data', () => left.resolve())
    payload.once('error', done)
  })
  app.post('/read', async () => 'ok')
  app.post('/upload', async () => 'never')
  await app.inject({ method: 'POST', url: '/read', payload: { name: 'wörd' } })
  t.match(await onlyProfile(t, app, '/read'), { request: { bodySize: 16 } })
  await app.inject({ method: 'POST', url: '/read?none' })
  t.equal((await onlyProfile(t, app, '/read?none')).request.bodySize, null)
  const { port } = await listen(app)
  await sendAndLeave(
    port,
    'POST /upload HTTP/1.1\r\nhost: localhost\r\ncontent-type: a/b\r\ncontent-length: 5000\r\n\r\n12345',
    left.promise,
  )
  await everythingStored(app)
  // Fastify answers 400, but the client is gone.
  t.match(await onlyProfile(t, app, '/upload'), { outcome: 'aborted', status: null, request: { bodySize: 5 } })
  await sendRaw(
    port,
    'POST /read?chunked HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n',
  )
  t.equal((await onlyProfile(t, app, '/read?chunked')).request.bodySize, 7)
})

t.test('the host of an HTTP/2 request is its authority', async t => {
  const app = await plainApp(t, { http2: true })
  app.post('/', async () => 'two')
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connectHttp2(origin)
  t.teardown(() => session.close())
  const stream = session.request({ ':method': 'POST', ':path': '/', 'content-type': 'text/plain' })
  stream.end('body')
  const [headers] = await once(stream, 'response')
  await once(stream.resume(), 'close')
  await everythingStored(app)
  t.match(headers['x-debug-token-link'], `${origin}/_profiler/${String(headers['x-debug-token'])}`)
  const { profiles } = await app.profiler.search({ host: '127.0.0.1' })
  t.match(profiles, [{ status: 200, host: '127.0.0.1' }])
  t.equal((await app.profiler.find(profiles[0]?.token ?? ''))?.request.bodySize, 4)
})

t.test("the application's own Server-Timing and X-Robots-Tag are kept, with secrets masked in the profile", async t => {
  const app = await profiledApp(t)
  let robots: string | string[] = ''
  app.get('/', async (_request, reply) =>
    reply
      .header('server-timing', ['db;dur=53', 'cache;desc="token=whatever-it-is"'])
      .header('x-robots-tag', robots)
      .send('ok'),
  )
  const ours = /^token;desc="([\w-]{12})", total;dur=/
  for (const [said, sent] of [
    ['noindex, nofollow, noarchive', 'noindex, nofollow, noarchive'],
    ['NONE', 'NONE'],
    ['noarchive', ['noarchive', 'noindex']],
    ['googlebot: noindex', ['googlebot: noindex', 'noindex']],
    [
      ['noarchive', 'noindex'],
      ['noarchive', 'noindex'],
    ],
  ] as const) {
    robots = typeof said === 'string' ? said : [...said]
    const { headers } = await app.inject('/')
    t.same(headers['x-robots-tag'], sent)
    t.match(headers['server-timing'], [ours, 'db;dur=53', 'cache;desc="token=whatever-it-is"'])
    const profile = await app.profiler.find(String(headers['x-debug-token']))
    const kept = profile?.response.headers.flatMap(([name, value]) => (name === 'server-timing' ? [value] : [])) ?? []
    t.equal(ours.exec(kept[0] ?? '')?.[1], profile?.token)
    t.same(kept.slice(1), ['db;dur=53', 'cache;desc="token=[masked]"'])
  }
})

t.test('a request that the application derives from another has its own profile', async t => {
  const app = await profiledApp(t)
  app.get('/outer', async request => {
    const raw: IncomingMessage = Object.create(request.raw, { url: { value: '/inner', writable: true } })
    const response = new ServerResponse(raw)
    app.routing(raw, response)
    return response.getHeader('x-debug-token')
  })
  app.get('/inner', (_request, reply) => {
    reply.send('inner')
  })
  const outer = await app.inject('/outer')
  t.ok(outer.body)
  t.not(outer.body, outer.headers['x-debug-token'])
})
