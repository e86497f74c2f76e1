import { readdirSync } from 'node:fs'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { admin, soak } from './all-uses.ts'
import { fuzz } from './hostile-clients.ts'
import { seed } from '../../src/database/migrate.ts'
import { addUser, build, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { ...admin, admin: true })

async function serve(debug: '0' | '1'): Promise<{ app: FastifyInstance; port: number }> {
  const app = await build(t, { database, environment: { DEBUG: debug, TRUST_PROXY: 'loopback' } })
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

function connectionsOf({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
