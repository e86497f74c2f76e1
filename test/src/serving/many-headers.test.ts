import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, addUser, build, openTestDatabase, signIn } from '../../support/site.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })
await addUser(database, { email: 'admin@museum.test', admin: true })

/** More headers than Node keeps by default, far below the size limit. */
const many = 'a:\r\n'.repeat(1100)

async function serve(environment: Record<string, string> = {}, routes?: (app: FastifyInstance) => Promise<void>) {
  const app = await build(t, { database, environment, ...(routes && { routes }) })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  return { app, port: Number(port) }
}

/** The server's answer to a request with these headers after the Host. */
async function send(port: number, requestLine: string, headers: string, rest = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${requestLine} HTTP/1.1\r\nHost: museum.test\r\nConnection: close\r\n${headers}\r\n${rest}`)
  return await text(socket)
}

t.test('a second Host after 1,100 headers is refused', async t => {
  const { port } = await serve()
  t.match(await send(port, 'GET /', `${many}Host: other.test\r\n`), /^HTTP\/1\.1 400 [^]*Invalid Host/)
})

t.test('a failing If-Match after 1,100 headers prevents the change', async t => {
  const { app, port } = await serve()
  const cookie = await signIn(app, { host: 'museum.test', email: 'admin@museum.test' })
  const { id } = await database.db
    .insertInto('platforms')
    .values({ name: 'Kept' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const body = '{"name":"Changed"}'
  const headers = `Cookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${many}If-Match: "other"\r\n`
  t.match(await send(port, `PATCH /api/platforms/${id}`, headers, body), /^HTTP\/1\.1 412 /)
  t.match(await database.db.selectFrom('platforms').select('name').where('id', '=', id).execute(), [{ name: 'Kept' }])
})

t.test('forwarded headers after 1,100 others take effect', async t => {
  const { port } = await serve({ TRUST_PROXY: 'loopback' }, async app => {
    app.get('/', async ({ ip, host, protocol }) => ({ ip, host, protocol }))
  })
  const forwarded = 'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: museum.test:8080\r\nX-Forwarded-Proto: https\r\n'
  t.match(
    await send(port, 'GET /', many + forwarded),
    '{"ip":"192.0.2.1","host":"museum.test:8080","protocol":"https"}',
  )
})

t.test('headers and trailers are all read up to the size limit, and refused beyond it', async t => {
  const { port } = await serve({}, async app => {
    app.post('/', async ({ raw }) => ({
      headers: raw.headersDistinct['a']?.length,
      trailers: raw.trailersDistinct['a']?.length,
    }))
  })
  const chunked = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
  t.match(await send(port, 'POST /', chunked + many, `2\r\n{}\r\n0\r\n${many}\r\n`), '{"headers":1100,"trailers":1100}')
  t.match(await send(port, 'POST /', chunked + 'a:\r\n'.repeat(16_000), '2\r\n{}\r\n0\r\n\r\n'), '{"headers":16000}')
  t.match(await send(port, 'POST /', chunked + 'a:\r\n'.repeat(17_000)), /^HTTP\/1\.1 431 /)
  t.match(await send(port, 'POST /', chunked, `2\r\n{}\r\n0\r\n${'a:\r\n'.repeat(17_000)}\r\n`), /^HTTP\/1\.1 431 /)
})

t.test('the largest possible number of headers is recorded with DEBUG=1', async t => {
  const { port } = await serve({ DEBUG: '1' })
  const answer = await send(port, 'GET /', 'a:\r\n'.repeat(16_000))
  const [, link = ''] = /x-debug-token-link: http:\/\/[^/]*(\S+)/i.exec(answer) ?? []
  t.match(await send(port, `GET ${link}`, ''), /^HTTP\/1\.1 200 /)
})
