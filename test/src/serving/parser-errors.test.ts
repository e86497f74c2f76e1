import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../../support/build.ts'
import { addLicense } from '../../support/records.ts'
import { openTestDatabase } from '../../support/test-database.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'ok')
  app.get('/slash/', async () => 'ok')
  app.post('/', async () => 'ok')
}

const app = await build(t, { database, routes })
const { port } = new URL(await app.listen({ port: 0 }))

/** What the server answers to these bytes before it closes the connection. */
async function send(bytes: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(bytes, 'latin1')
  return await text(socket)
}

for (const [name, bytes, status] of [
  ['an unknown method', 'FLY / HTTP/1.1\r\nHost: museum.test\r\n\r\n', 400],
  ['a malformed request line', 'hello\r\n\r\n', 400],
  ['a NUL in the target', 'GET /\0 HTTP/1.1\r\nHost: museum.test\r\n\r\n', 400],
  ['a CR in a header', 'GET / HTTP/1.1\r\nHost: museum.test\r\nReferer: a\rb\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: museum.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na', 400],
  [
    'a Content-Length with chunks',
    'POST / HTTP/1.1\r\nHost: museum.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na',
    400,
  ],
  ['a header of 20 kB', `GET / HTTP/1.1\r\nHost: museum.test\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['a target of 20 kB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: museum.test\r\n\r\n`, 431],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
] as const) {
  t.test(`${name} gets a well-formed ${status} and a closed connection`, async t => {
    const answer = await send(bytes)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    t.ok(head.startsWith(`HTTP/1.1 ${status} `))
    t.match(head, 'Connection: close')
    t.match(head, 'Content-Type: application/problem+json; charset=utf-8')
    t.match(head, `Content-Length: ${body.length}`)
    t.equal(JSON.parse(body).status, status)
  })
}

for (const [name, bytes] of [
  ['a header', `GET / HTTP/1.1\r\nHost: museum.test\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['a target', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: museum.test\r\n\r\n`],
] as const) {
  t.test(`${name} of 20 kB is refused as too large`, async t => {
    const [, body = ''] = (await send(bytes)).split('\r\n\r\n')
    t.equal(JSON.parse(body).detail, "The request's target and headers are too large.")
  })
}

t.test('a client that uploads 3 MB after headers that are too large reads the refusal', async t => {
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`POST / HTTP/1.1\r\nHost: museum.test\r\nX: ${'a'.repeat(20_000)}\r\nContent-Length: 3000000\r\n\r\n`)
  // It reads only after its last write, and not at all if a write fails.
  for (let part = 0; part < 300; part++) {
    await new Promise<void>((resolve, reject) => {
      socket.write('b'.repeat(10_000), error => (error ? reject(error) : resolve()))
    })
    // The server runs in the same process.
    await new Promise(setImmediate)
  }
  t.match(await text(socket), /^HTTP\/1\.1 431 /)
})

t.test('a client that resets its connection during a request does no harm', async t => {
  const accepted = new Promise<Socket>(resolve => {
    app.server.once('connection', resolve)
  })
  const client = connect(Number(port), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: mus')
  const served = await accepted
  while (served.bytesRead === 0) await new Promise(setImmediate)
  const closed = new Promise<void>(resolve => {
    served.once('close', () => {
      resolve()
    })
  })
  client.resetAndDestroy()
  await closed
  t.match(await send('GET / HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 /)
})

t.test('a path of 10 kB is routed like any other', async t => {
  const path = `/${'a/'.repeat(5000)}`
  t.match(
    await send(`GET ${path} HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n`),
    `No route found for \\"GET ${path}\\"`,
  )
})

t.test('an absolute-form target without a path means the root', async t => {
  t.match(
    await send('PUT http://museum.test HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'),
    'No route found for \\"PUT /\\"',
  )
})

for (const [target, path] of [
  ['//version', '//version'],
  ['/../version', '/../version'],
  ['/a/./b/..', '/a/./b/..'],
  ['/version#fragment', '/version'],
  ['/version?a#b?c', '/version'],
  ['/version;a=b', '/version;a=b'],
  ['http://museum.test/a//b/%2e%2e?c', '/a//b/%2e%2e'],
  ['/\\evil.test', '/\\evil.test'],
  ['/<script>', '/<script>'],
] as const) {
  t.test(`the target ${target} gets a 404 for ${path}`, async t => {
    const answer = await send(`GET ${target} HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n`)
    t.equal(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').detail, `No route found for "GET ${path}"`)
  })
}

t.test('a redirect drops the fragment and stays on this host, whatever the path', async t => {
  t.match(
    await send('GET /slash?a=1#b HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'),
    'location: http://museum.test/slash/?a=1\r\n',
  )
  t.match(
    await send('GET // HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'),
    'location: http://museum.test/\r\n',
  )
})

t.test('OPTIONS * matches no route', async t => {
  t.match(await send('OPTIONS * HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 4\d\d /)
})

t.test('a client that hangs up during a request does no harm', async t => {
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: museum.test\r\nContent-Length: 10\r\n\r\n', () => socket.resetAndDestroy())
  await new Promise(resolve => socket.once('close', resolve))
  t.match(await send('GET / HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 /)
})
