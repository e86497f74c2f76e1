import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { HttpServers, type HttpServersOptions } from '../../../src/serving/http-servers.ts'
import * as limits from '../../../src/serving/limits.ts'
import { addLicense, build, openTestDatabase } from '../../support/site.ts'
import { portOf } from '../../support/port.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })

/** Blocks the event loop. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'ok')
  app.get('/held', () => new Promise(() => {}))
  app.get('/large', async () => {
    block(limits.longestTurn / 4)
    return 'large'
  })
  app.post('/', async ({ body }) => body)
}

/** The app, listening. */
async function serve(t: Test) {
  const app = await build(t, { database, routes })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** Servers for the test's own listener, one of them listening. */
async function servePlain(t: Test, listener: RequestListener, options: HttpServersOptions = {}) {
  const servers = new HttpServers(options)
  const server = servers.create(listener).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return { servers, server }
}

/** Opens a connection and waits until the server has accepted it and read these bytes. @returns both its ends */
async function openBoth(t: Test, server: Server, bytes = '', options: object = {}): Promise<[Socket, Socket]> {
  const accepted = once(server, 'connection')
  const socket = connect({ port: portOf(server.address()), host: '127.0.0.1', ...options }).on('error', () => {})
  t.teardown(() => socket.destroy())
  socket.write(bytes)
  const [served]: Socket[] = await accepted
  if (served === undefined) throw new Error('There is no connection.')
  if (socket.connecting) await once(socket, 'connect')
  while (served.bytesRead < bytes.length) await turn()
  return [socket, served]
}

/** Opens a connection as above. @returns the client's end */
async function open(t: Test, server: Server, bytes = ''): Promise<Socket> {
  const [socket] = await openBoth(t, server, bytes)
  return socket
}

/** All that the server sends on a connection of its own until it closes it. */
async function answerTo(t: Test, server: Server, bytes: string): Promise<string> {
  return await text(await open(t, server, bytes))
}

/** Resolves when a connection closes, whether it fails or not. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    socket.once('close', () => resolve())
  })
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: museum.test\r\n${headers}\r\n`
}

/** A request after whose response the connection closes. */
function getLast(path: string): string {
  return get(path, 'Connection: close\r\n')
}

/** A request with this body, or what of it has been sent. */
function post(path: string, body: string, headers = 'Transfer-Encoding: chunked'): string {
  return `POST ${path} HTTP/1.1\r\nHost: museum.test\r\n${headers}\r\n\r\n${body}`
}

t.test('the limits are those that the documentation lists', async t => {
  const units: Record<string, number> = { kB: 1024, s: 1000, ms: 1, '': 1 }
  const rows = readFileSync('docs/operating.md', 'utf8').matchAll(/^\| `(\w+)` \| ([\d,.]+) ?(\w*) \|/gm)
  const listed = [...rows].map(([, name = '', number = '', unit = '']) => [
    name,
    Number(number.replace(',', '')) * (units[unit] ?? NaN),
  ])
  t.strictSame(Object.fromEntries(listed.filter(([name = '']) => name in limits)), { ...limits })
  const app = await serve(t)
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections, bodyLimit } = limits
  t.match(app.server, { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections })
  const payload = (length: number) =>
    ({
      method: 'POST',
      url: '/',
      headers: { host: 'museum.test', 'content-type': 'application/json' },
      payload: `"${'x'.repeat(length - 2)}"`,
    }) as const
  t.equal((await app.inject(payload(bodyLimit))).statusCode, 200)
  t.equal((await app.inject(payload(bodyLimit + 1))).statusCode, 413)
})

t.test('a silent connection is closed during a request, but not between requests', async t => {
  const silence = 50
  const { server } = await servePlain(
    t,
    (request, response) => {
      if (request.url === '/') response.end('ok')
    },
    { connectionTimeout: silence, connectionsCheckingInterval: 1 },
  )
  const idle = await open(t, server, get('/'))
  await once(idle, 'data')
  const silent = await open(t, server, get('/silent'))
  const unread = await open(t, server, get('/').repeat(limits.maxUnderWay - 1) + get('/silent'))
  await Promise.all([once(silent, 'close'), once(unread.resume(), 'close')])
  idle.write(get('/'))
  t.match(await once(idle, 'data'), [/ok$/])
})

t.test('an idle connection is closed at the keep-alive timeout, and not before', async t => {
  const keepAliveTimeout = 200
  const { server } = await servePlain(
    t,
    (request, response) => {
      // Responds before it has read the body.
      response.end(request.method)
      request.resume()
    },
    { keepAliveTimeout, connectionTimeout: 20, connectionsCheckingInterval: 10 },
  )
  const began = performance.now()
  const early = await open(t, server, post('/', '', 'Content-Length: 4'))
  t.match(await once(early, 'data'), [/POST$/])
  early.write('body')
  const idle = await open(t, server, get('/'))
  await Promise.all([once(early.resume(), 'close'), once(idle.resume(), 'close')])
  t.ok(performance.now() - began >= keepAliveTimeout)
})

t.test('a stray line after a response does not keep its connection open', async t => {
  const { server } = await servePlain(t, (_request, response) => response.end('ok'), {
    keepAliveTimeout: 100,
    connectionsCheckingInterval: 10,
  })
  const socket = await open(t, server, get('/'))
  await once(socket, 'data')
  socket.write('\r\n')
  await once(socket.resume(), 'close')
})

t.test('a response may set a timeout of its own, shorter or longer than the keep-alive timeout', async t => {
  const { server } = await servePlain(
    t,
    (request, response) => {
      response.setTimeout(Number(request.url?.slice(1)), () => response.end('late'))
    },
    { keepAliveTimeout: 200, connectionsCheckingInterval: 10 },
  )
  for (const timeout of [50, 300]) {
    const began = performance.now()
    const socket = await open(t, server, get(`/${timeout}`))
    t.match(await once(socket, 'data'), [/late$/])
    t.ok(performance.now() - began >= timeout - 1)
  }
})

t.test('an upgraded connection has no timeout, whatever it answered before', async t => {
  const options = { keepAliveTimeout: 50, connectionsCheckingInterval: 5 }
  const { server } = await servePlain(t, (_request, response) => response.end('ok'), options)
  server.on('upgrade', (_request, socket: Socket) => socket.write('upgraded'))
  const [socket, served] = await openBoth(t, server, get('/'))
  await once(socket, 'data')
  socket.write(get('/', 'Connection: upgrade\r\nUpgrade: test\r\n'))
  t.match(await once(socket, 'data'), [/upgraded$/])
  // Another connection's whole time passes.
  await answerTo(t, server, get('/'))
  t.notOk(served.timeout)
  t.notOk(served.destroyed)
})

t.test('bytes that trickle in after a malformed request do not keep its connection open', async t => {
  const { server } = await servePlain(t, () => {}, { connectionTimeout: 100, connectionsCheckingInterval: 1 })
  const socket = await open(t, server, `${get('/')}none\r\n\r\n`)
  const trickle = setInterval(() => socket.write('x'), 20)
  t.teardown(() => clearInterval(trickle))
  await closeOf(socket.resume())
  t.ok(socket.closed)
})

t.test('malformed bytes get a single 400, after the responses to earlier requests', async t => {
  const { servers, server } = await servePlain(t, (request, response) => setImmediate(() => response.end(request.url)))
  const refused = once(server, 'clientError')
  const socket = await open(t, server)
  socket.write(`${get('/first')}${get('/second')}nonsense\r\n\r\n`)
  await refused
  socket.write('more of it\r\n\r\n')
  const answer = await text(socket)
  t.match(answer, /^HTTP\/1\.1 200 [^]*\/first[^]*HTTP\/1\.1 200 [^]*\/secondHTTP\/1\.1 400 Bad Request\r\n/)
  t.equal(answer.match(/HTTP\/1\.1/g)?.length, 3)
  await servers.close()
})

t.test('a malformed body ends the connection, with a 400 if no response has started', async t => {
  for (const [path, expected] of [
    ['/silent', /^HTTP\/1\.1 400 /],
    ['/early', /^HTTP\/1\.1 200 OK\r\n[^]*early\r\n$/],
  ] as const) {
    const { server } = await servePlain(t, (request, response) => {
      request.resume()
      if (request.url === '/early') response.write('early')
    })
    const socket = await open(t, server, post(path, '1\r\na\r\n'))
    socket.write('none\r\n')
    t.match(await text(socket), expected)
  }
})

t.test('a refused connection is destroyed even if the client keeps its half open', async t => {
  const { server } = await servePlain(t, () => {})
  const [socket, served] = await openBoth(t, server, '', { allowHalfOpen: true })
  socket.write('nonsense\r\n\r\n')
  socket.resume()
  await once(served, 'close')
  t.ok(served.destroyed)
})

t.test('closing completes pending and half-sent requests and ends their connections', async t => {
  const held: Array<() => void> = []
  const { servers, server } = await servePlain(t, (request, response) => {
    held.push(() => response.end(request.url))
    // As Fastify does.
    if (servers.isClosing) response.setHeader('connection', 'close')
  })
  const silent = await open(t, server)
  const waiting = await open(t, server, get('/waiting'))
  const half = await open(t, server, 'GET /half HTTP/1.1\r\n')
  const port = portOf(server.address())
  const closed = servers.close()
  t.equal(await text(silent), '')
  const [refusal] = await once(connect(port, '127.0.0.1'), 'error')
  t.match(refusal, { code: 'ECONNREFUSED' })
  half.write('Host: museum.test\r\n\r\n')
  await once(server, 'request')
  for (const answer of held) answer()
  t.match(await text(waiting), /^HTTP\/1\.1 200 OK\r\nconnection: close\r\n[^]*\/waiting$/i)
  t.match(await text(half), /^HTTP\/1\.1 200 OK\r\n[^]*\/half$/)
  await closed
})

t.test('closing waits for a client that reads slowly, but not for one that reads nothing', async t => {
  const length = 20_000_000
  let check: (() => void) | undefined
  const { servers, server } = await servePlain(t, (_request, response) => {
    Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(length / 20, 'a'))).pipe(
      response.setHeader('content-length', length),
    )
  })
  const [deaf, deafServed] = await openBoth(t, server, get('/'))
  deaf.pause()
  const [slow, slowServed] = await openBoth(t, server, get('/'))
  t.intercept(globalThis, 'setInterval', { value: (callback: () => void) => (check = callback) })
  const closed = servers.close()
  while (server.listening) await turn()
  const takenSoFar = () => slowServed.bytesWritten - slowServed.writableLength
  let checks = 0
  let read = 0
  let taken = takenSoFar()
  for await (const chunk of slow) {
    read += chunk.length
    if (takenSoFar() === taken) continue
    taken = takenSoFar()
    check?.()
    if (check !== undefined) checks++
  }
  t.ok(read > length)
  t.ok(checks > 1)
  while (!deafServed.destroyed) {
    check?.()
    await turn()
  }
  await closed
  t.ok((await text(deaf).catch(() => '')).length < length)
})

t.test('half a request neither delays closing nor cuts off another request', async t => {
  let answer = () => {}
  const answerOrWait: RequestListener = (request, response) => {
    if (request.url === '/first') response.end('first')
    if (request.url === '/waiting') answer = () => response.end('waited for')
  }
  const { servers, server } = await servePlain(t, answerOrWait, { patience: 1 })
  const waiting = await open(t, server, get('/waiting'))
  const half = await open(t, server, `${get('/first')}GET /second HTTP/1.1\r\n`)
  const alone = await open(t, server, 'GET /second HTTP/1.1\r\n')
  const halfABody = await open(t, server, post('/second', 'half', 'Content-Length: 10'))
  const closed = servers.close()
  t.match(await text(half), /first$/)
  for (const socket of [alone, halfABody]) t.equal(await text(socket), '')
  answer()
  t.match(await text(waiting), /waited for$/)
  await closed
})

t.test('a response that began before closing ends its connection as soon as it is sent', async t => {
  let end = () => {}
  const begin: RequestListener = (_request, response) => {
    response.write('begun')
    end = () => response.end()
  }
  const { servers, server } = await servePlain(t, begin, { patience: 2 ** 30 })
  const socket = await open(t, server, get('/'))
  const idle = await open(t, server)
  const closed = servers.close()
  await text(idle)
  end()
  t.match(await text(socket), /begun/)
  await closed
})

t.test('a stream piped into a response is destroyed if the client left before its turn', async t => {
  const source = new PassThrough()
  let send = () => {}
  const { server } = await servePlain(t, (_request, response) => {
    send = () => source.pipe(response)
  })
  const [socket, served] = await openBoth(t, server, `${get('/first')}${get('/second')}`)
  socket.destroy()
  await once(served, 'close')
  send()
  await once(source, 'close')
  t.ok(source.destroyed)
})

t.test('requests that wait for one license get 503 once their answers have taken a whole turn', async t => {
  const app = await serve(t)
  const sockets: Socket[] = []
  while (sockets.length < 12) sockets.push(await open(t, app.server))
  for (const socket of sockets) socket.write(getLast('/large'))
  const answers = await Promise.all(sockets.map(socket => text(socket)))
  t.match(answers[0], /^HTTP\/1\.1 200 [^]*large$/)
  t.match(answers.at(-1), /^HTTP\/1\.1 503 /)
})

for (const [what, connections, requests, milliseconds, most] of [
  ['many requests in one read', 1, 2000, 0, 2000],
  ['requests whose answers take long', 4, 5, limits.turnSlice / 2, 10],
] as const) {
  t.test(`${what} leave room for other connections in between, and are all answered`, async t => {
    let begun = 0
    const { server } = await servePlain(t, (request, response) => {
      if (request.url === '/other') return response.end(String(begun))
      begun++
      block(milliseconds)
      response.end('one of many')
    })
    const sockets: Socket[] = []
    while (sockets.length < connections) sockets.push(await open(t, server))
    const other = await open(t, server)
    for (const socket of sockets) socket.write(get('/').repeat(requests - 1) + getLast('/'))
    other.write(getLast('/other'))
    const [, before] = /\r\n\r\n(\d+)$/.exec(await text(other)) ?? []
    t.ok(Number(before) < most)
    for (const socket of sockets) t.equal((await text(socket)).match(/one of many/g)?.length, requests)
  })
}

t.test('blocking before the first request of a turn refuses no request', async t => {
  const app = await serve(t)
  await answerTo(t, app.server, getLast('/'))
  block(limits.longestTurn)
  t.match(await answerTo(t, app.server, getLast('/')), /^HTTP\/1\.1 200 /)
})

t.test('/health and /ready answer on any host and allow only GET', async t => {
  const app = await serve(t)
  const expected = { statusCode: 200, headers: { 'cache-control': 'no-store' } }
  for (const host of ['museum.test', 'nobody.test', 'a..b']) {
    t.match(await ask(app, '/health', host), { ...expected, body: '{"status":"alive"}' }, host)
    t.match(await ask(app, '/ready', host), { ...expected, body: '{"status":"ready"}' }, host)
  }
  const { headers } = await app.inject({ method: 'POST', url: '/ready', headers: { host: 'museum.test' } })
  t.equal(headers.allow, 'GET')
})

t.test('/ready says why the server is not ready', async t => {
  const app = await serve(t)
  const { availability, changes } = database
  const unready = async () => {
    const { statusCode, headers, body } = await ask(app, '/ready')
    t.match({ statusCode, headers }, { statusCode: 503, headers: { 'retry-after': '1', 'cache-control': 'no-store' } })
    t.equal((await ask(app, '/health')).statusCode, 200)
    return JSON.parse(body).detail
  }
  changes.emit('deaf')
  t.equal(await unready(), 'The server receives no change notifications from the database.')
  availability.lose(new Error('gone'))
  t.equal(await unready(), 'The database cannot be reached.')
  availability.find()
  changes.emit('listening')
  t.equal((await ask(app, '/ready')).statusCode, 200)
  await app.close()
})

t.test('requests that arrive while the server closes are answered, and /ready says that it is closing', async t => {
  const app = await serve(t)
  const socket = await open(t, app.server, 'GET /ready HTTP/1.1\r\n')
  const other = await open(t, app.server, 'GET / HTTP/1.1\r\n')
  const closed = app.close()
  while (app.server.listening) await turn()
  socket.write('Host: any\r\n\r\n')
  other.write('Host: museum.test\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1\.1 503 [^]*connection: close\r\n[^]*"The server is closing\."/i)
  t.match(await text(other), /^HTTP\/1\.1 200 [^]*ok$/)
  await closed
})

t.test('a connection at its limit of concurrent requests is not read any further, and no request is lost', async t => {
  const held: Array<() => void> = []
  const { server } = await servePlain(t, (request, response) => {
    request.resume()
    if (request.url === '/other') response.end('other')
    else held.push(() => response.end(request.url))
  })
  const count = 3000
  // Some bodies arrive in a later write, for which Node would read on.
  const requests = Array.from({ length: count }, (_, number) =>
    post(`/${number}`, 'x'.repeat(100), 'Content-Length: 100'),
  )
  const [socket, served] = await openBoth(t, server)
  const bytes = requests.join('')
  for (let at = 0; at < bytes.length; at += 20_000) socket.write(bytes.slice(at, at + 20_000))
  while (held.length < limits.maxUnderWay) await turn()
  const { bytesRead } = served
  t.match(await answerTo(t, server, getLast('/other')), /other$/)
  t.equal(served.bytesRead, bytesRead)
  t.equal(held.length, limits.maxUnderWay)
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  while (!answers.endsWith(`/${count - 1}`)) {
    t.ok(held.length <= limits.maxUnderWay)
    for (const answer of held.splice(0, limits.maxUnderWay / 2)) answer()
    await turn()
  }
  t.strictSame(answers.match(/(?<=\r\n\r\n)\/\d+/g)?.length, count)
})

t.test('pipelined requests of a client that reads nothing wait, and are all answered once it reads', async t => {
  const [count, length] = [10, 10_000_000]
  let begun = 0
  const { server } = await servePlain(t, (_request, response) => {
    begun++
    response.end(Buffer.alloc(length, 'a'))
  })
  const [socket, served] = await openBoth(t, server, get('/').repeat(count - 1) + getLast('/'))
  while (!served.writableNeedDrain) await turn()
  t.match(await answerTo(t, server, getLast('/')), /a$/)
  t.ok(begun - 1 < count)
  t.equal((await text(socket)).match(/HTTP\/1\.1 200 OK/g)?.length, count)
})

t.test('the number of waiting requests is bounded: the connection that exceeds it is closed', async t => {
  let begun = 0
  const { server } = await servePlain(t, ({ url }, response) => {
    if (url === '/other') response.end('other')
    else begun++
  })
  const inOneRead = 'GET / HTTP/1.1\r\nHost:m\r\n\r\n'.repeat(2000)
  const count = Math.ceil(limits.maxHeld / 1000)
  const sockets: Socket[] = []
  while (sockets.length < count) sockets.push(await open(t, server, inOneRead))
  await Promise.race(sockets.map(socket => closeOf(socket.resume())))
  t.match(await answerTo(t, server, getLast('/other')), /other$/)
  t.ok(begun <= count * limits.maxUnderWay)
  t.ok(sockets.some(({ closed }) => !closed))
})

t.test('an unfinished request gets no second response, and its connection is soon closed', async t => {
  for (const rest of ['', 'none\r\n']) {
    const options = { connectionsCheckingInterval: 10 }
    const { server } = await servePlain(t, (_request, response) => response.end('early'), options)
    const socket = await open(t, server, post('/', '1\r\na\r\n'))
    await once(socket, 'readable')
    Object.assign(server, { headersTimeout: 50, requestTimeout: 50 })
    socket.write(rest)
    t.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n5\r\nearly\r\n0\r\n\r\n$|early$/)
  }
})

t.test('after an early response, the rest of the request and later requests are still read', async t => {
  const { server } = await servePlain(t, (request, response) => response.end(request.url))
  const socket = await open(t, server, post('/early', 'a', 'Content-Length: 2'))
  await once(socket, 'data')
  socket.write(`b${get('/next')}`)
  await once(socket, 'data')
  socket.write(getLast('/last'))
  t.match(await text(socket), /\/last$/)
})

t.test('a malformed body is refused after the response before it', async t => {
  let answer = () => {}
  const { server } = await servePlain(t, (request, response) => {
    if (request.url === '/first') answer = () => response.end('first')
  })
  const refused = once(server, 'clientError')
  const socket = await open(t, server, get('/first') + post('/second', 'none\r\n'))
  await refused
  answer()
  t.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n[^]*firstHTTP\/1\.1 400 Bad Request\r\n/)
})

t.test('a CONNECT is answered like any other request, after the responses before it', async t => {
  const length = 5_000_000
  const { server } = await servePlain(t, (request, response) => {
    if (request.method === 'CONNECT' || request.url === '/at-once') response.end(request.url)
    else Readable.from([Buffer.alloc(length / 2, 'a'), Buffer.alloc(length / 2, 'a')]).pipe(response)
  })
  const tunnel = 'CONNECT museum.test:443 HTTP/1.1\r\nHost: museum.test:443\r\n\r\n'
  t.match(await answerTo(t, server, tunnel), /^HTTP\/1\.1 200 OK\r\n[^]*museum\.test:443$/)
  const answers = await answerTo(t, server, get('/') + tunnel)
  t.equal(answers.match(/a{1000}/g)?.length, length / 1000)
  t.match(answers.slice(-1000), /HTTP\/1\.1 200 OK\r\n[^]*museum\.test:443$/)
  t.match(await answerTo(t, server, get('/at-once') + tunnel), /at-once[^]*museum\.test:443$/)
})

t.test('a connection with a CONNECT is closed if its client leaves or reads nothing', async t => {
  for (const leave of [(socket: Socket) => socket.resetAndDestroy(), (socket: Socket) => socket.pause()]) {
    const pipe: RequestListener = (_request, response) => {
      new PassThrough().end(Buffer.alloc(20_000_000)).pipe(response)
    }
    const { server } = await servePlain(t, pipe, { connectionTimeout: 50, connectionsCheckingInterval: 1 })
    const tunnel = 'CONNECT museum.test:443 HTTP/1.1\r\nHost: museum.test:443\r\n\r\n'
    const [socket, served] = await openBoth(t, server, get('/') + tunnel)
    leave(socket)
    while (!served.closed) await turn()
    t.ok(served.closed)
  }
})

t.test('an Upgrade request is answered like any other, on each address of localhost', async t => {
  const app = await build(t, { database, routes })
  const { port } = new URL(await app.listen({ port: 0, host: 'localhost' }))
  for (const { address } of await lookup('localhost', { all: true })) {
    const socket = connect(Number(port), address)
    socket.write(get('/', 'Upgrade: websocket\r\nConnection: Upgrade, close\r\n'))
    t.match(await text(socket), /^HTTP\/1\.1 200 /)
  }
})

t.test('requests right after closing begins are answered and end their connections, new or kept alive', async t => {
  const answer: RequestListener = (request, response) => {
    if (servers.isClosing) response.setHeader('connection', 'close')
    setImmediate(() => response.end(request.url))
  }
  const { servers, server } = await servePlain(t, answer, { lameDuck: limits.lameDuck })
  const kept = await open(t, server, get('/before'))
  await once(kept, 'readable')
  const idle = await open(t, server)
  const closed = servers.close()
  kept.write(`${get('/kept')}${get('/pipelined')}`)
  const fresh = await open(t, server, get('/fresh'))
  for (const [socket, path] of [
    [kept, '/pipelined'],
    [fresh, '/fresh'],
  ] as const) {
    const answers = await text(socket)
    t.ok(answers.endsWith(path))
    t.equal(answers.match(/connection: close/gi)?.length, 1)
  }
  t.equal(await text(idle), '')
  await closed
})

t.test('clients that open a connection for each request lose no response when the servers close', async t => {
  const answer: RequestListener = (_request, response) => {
    if (servers.isClosing) response.setHeader('connection', 'close')
    setImmediate(() => response.end('ok'))
  }
  const { servers, server } = await servePlain(t, answer, { lameDuck: limits.lameDuck })
  const port = portOf(server.address())
  const first = once(server, 'request')
  const clients = Array.from({ length: 200 }, async () => {
    for (;;) {
      const last = await lastAnswerOn(connect(port, '127.0.0.1'))
      if (typeof last !== 'string' || !/connection: close/i.test(last)) return last
    }
  })
  await first
  await servers.close()
  for (const last of await Promise.all(clients)) t.match(last, { code: 'ECONNREFUSED' })
})

/** The last answer on a connection on which one request follows another, or why there is none. */
async function lastAnswerOn(socket: Socket): Promise<unknown> {
  let last = ''
  socket.write(get('/'))
  socket.on('data', bytes => {
    last = String(bytes)
    if (!/connection: close/i.test(last)) socket.write(get('/'))
  })
  return await once(socket, 'end').then(
    () => last,
    (error: unknown) => error,
  )
}

t.test('every connection made before closing is accepted, however many are queued', async t => {
  const { servers, server } = await servePlain(t, (_request, response) => response.end('ok'))
  const port = portOf(server.address())
  const answers = Array.from({ length: 100 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(getLast('/'))
    return text(socket)
  })
  await turn()
  const closed = servers.close()
  for (const answer of await Promise.all(answers)) t.match(answer, /ok$/)
  await closed
})

async function ask(app: FastifyInstance, url: string, host = 'museum.test') {
  return await app.inject({ url, headers: { host } })
}
