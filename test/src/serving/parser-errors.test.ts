import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, openTestDatabase } from '../../support/site.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'ok')
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

const post = 'POST / HTTP/1.1\r\nHost: museum.test\r\n'
const tooLarge = "The request's target and headers are too large."
const notHttp = 'The request is not valid HTTP.'

for (const [name, bytes, status, detail] of [
  ['an unknown method', 'FLY / HTTP/1.1\r\nHost: museum.test\r\n\r\n', 400, notHttp],
  ['a malformed request line', 'hello\r\n\r\n', 400, notHttp],
  ['a NUL in the target', 'GET /\0 HTTP/1.1\r\nHost: museum.test\r\n\r\n', 400, notHttp],
  ['a CR in a header', 'GET / HTTP/1.1\r\nHost: museum.test\r\nReferer: a\rb\r\n\r\n', 400, notHttp],
  ['two lengths', `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`, 400, notHttp],
  ['a length with chunks', `${post}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na`, 400, notHttp],
  ['a header of 20 kB', `${post}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, tooLarge],
  ['a target of 20 kB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: museum.test\r\n\r\n`, 431, tooLarge],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, notHttp],
] as const) {
  t.test(`${name} gets a well-formed ${status} and a closed connection`, async t => {
    const answer = await send(bytes)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    t.ok(head.startsWith(`HTTP/1.1 ${status} `))
    t.match(head, 'Connection: close')
    t.match(head, 'Content-Type: application/problem+json; charset=utf-8')
    t.match(head, `Content-Length: ${body.length}`)
    t.match(JSON.parse(body), { status, detail })
  })
}

t.test('a client that uploads 3 MB after headers that are too large reads the refusal', async t => {
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`POST / HTTP/1.1\r\nHost: museum.test\r\nX: ${'a'.repeat(20_000)}\r\nContent-Length: 3000000\r\n\r\n`)
  // It reads only after its last write, and not at all if a write fails.
  for (let part = 0; part < 300; part++) {
    await new Promise<void>((resolve, reject) =>
      socket.write('b'.repeat(10_000), error => (error ? reject(error) : resolve())),
    )
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
    served.once('close', () => resolve())
  })
  client.resetAndDestroy()
  await closed
  t.match(await send('GET / HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 /)
})
