import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { admin, soak } from './all-uses.ts'
import { fuzz } from './hostile-clients.ts'
import { slopeOf } from './slope.ts'
import { readStatuses } from './statuses.ts'
import applicationRoutes from '../../routes/index.ts'
import { seed } from '../../src/database/migrate.ts'
import { build } from '../support/build.ts'
import { addUser } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { ...admin, admin: true })

const streams = new Set<Readable>()

async function routes(app: FastifyInstance) {
  await app.register(applicationRoutes)
  app.get('/stream', async (_request, reply) => {
    const stream = new Readable({ read() {} })
    streams.add(stream)
    return reply.type('text/plain').send(stream)
  })
}

async function serve(debug: '0' | '1'): Promise<{ app: FastifyInstance; port: number }> {
  const app = await build(t, { database, routes, environment: { DEBUG: debug, TRUST_PROXY: 'loopback' } })
  return { app, port: Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port) }
}

const servers = { 0: await serve('0'), 1: await serve('1') }

for (const [debug, { app, port }] of Object.entries(servers)) {
  t.test(
    `hostile clients get an answer or a closed connection and cause no server error, with DEBUG=${debug}`,
    async t => {
      const { exchanges, statuses, hangs, faults, garbled, miscounted } = await fuzz(port, 150, 1)
      t.equal(exchanges, 150)
      t.strictSame({ hangs, faults, garbled, miscounted }, { hangs: [], faults: [], garbled: [], miscounted: [] })
      t.ok(Number(statuses.get(200)) > 0 && Number(statuses.get(400)) > 0)
      t.equal((await app.inject({ url: '/', headers: { host: 'localhost' } })).statusCode, 200)
    },
  )
}

t.test('all uses at once leak no descriptors and cause no server error', async t => {
  const { app, port } = servers[1]
  const before = readdirSync('/dev/fd').length
  let left = 40
  const statuses = await soak(port, () => left-- > 0, 4)
  // On a busy machine, turns of the event loop may be too long.
  t.strictSame(
    [...statuses.keys()].filter(status => status >= 500 && status !== 503),
    [],
  )
  t.ok(Number(statuses.get(200)) > 0 && Number(statuses.get(404)) > 0)
  while ((await connectionsOf(app)) > 0) await new Promise(resolve => setImmediate(resolve))
  // The embedded database opens its files on demand.
  t.ok(readdirSync('/dev/fd').length - before < 30)
})

t.test('responses queued behind another close with their connection', async t => {
  const { port } = servers[0]
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3))
  while (streams.size < 3) await new Promise(resolve => setImmediate(resolve))
  const closed = Promise.all([...streams].map(stream => once(stream, 'close')))
  socket.destroy()
  t.equal((await closed).length, 3)
})

t.test('the shows count responses and compute slopes correctly', async t => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  t.strictSame(
    readStatuses(
      `${ok}HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n${ok.slice(0, -1)}`,
      false,
    ),
    [200, 404],
  )
  t.strictSame(readStatuses(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${ok}`, true), [200, 200])
  t.equal(readStatuses(`${ok}?`, false), null)
  t.equal(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
    2,
  )
})

function connectionsOf({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
