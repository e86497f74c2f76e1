import { once } from 'node:events'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../build.ts'
import { addLicense } from '../records.ts'
import { serveWire } from '../wire-server.ts'

async function routes (app: FastifyInstance) {
  app.get('/', async request => request.requireLicense().name)
}

t.test('a change that was missed while the listener was lost is seen once it listens again', async t => {
  const server = await serveWire(t)
  const app = await build(t, { routes, environment: { DATABASE_URL: server.url } })
  const { db, changes } = app.database
  const ask = async () => (await app.inject({ url: '/', headers: { host: 'museum.test' } })).body
  await addLicense(app.database, { domain: 'museum.test', name: 'Before' })
  t.equal(await ask(), 'Before')

  // This server tells only the connection that makes a change: the listener misses it.
  await db.updateTable('licenses').set({ name: 'After' }).execute()
  const listening = once(changes, 'listening')
  server.cut(0)
  await listening
  t.equal(await ask(), 'After')
})
