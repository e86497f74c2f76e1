import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { RequestReads } from '../../../../plugins/debug/reads.ts'
import { addLicense, hearAll, openTestDatabase } from '../../../support/site.ts'
import { buildDebugged, panelOf, readPanel } from './panels.ts'

const database = await openTestDatabase(t)
const license = await addLicense(database, { domain: 'museum.test', museums: ['Louvre'] })
await hearAll(database)

let isLost = false

async function routes(app: FastifyInstance) {
  const { museums } = app.entities
  const segment = (table: string, key: string, read: () => Promise<string | null> = async () => null) =>
    app.entityCache.segment({ table, columns: ['id'], key, joins: [] }, read)
  const tokens = segment('tokens', 'token')
  app.get('/shared', async () => await Promise.all([museums.read(license), museums.read(license)]))
  app.get('/secret', async () => await tokens.read('planted-hunter2'))
  app.get('/many', async () => {
    for (let n = 0; n < 2000; n++) await museums.read(license)
  })
  const rooms = segment('rooms', 'id', async () => {
    if (isLost) throw new Error('lost')
    return 'Salle 1'
  })
  app.get('/room', async () => await rooms.read('1'))
  app.get('/none', async () => 'nothing more')
}

const app = await buildDebugged(t, { database, routes })
const ask = (url: string, host = 'museum.test') => app.inject({ url, headers: { host } })

t.test('a record is loaded on its first read and cached for the next request', async t => {
  const languages = { table: 'license_languages', outcome: 'hit' }
  const site = { table: 'licenses', column: 'domain', value: 'museum.test' }
  const first = await panelOf<RequestReads>(app, await ask('/none'), 'cache')
  t.match(first, { hit: 1, miss: 1, shared: 0, first: [{ ...site, outcome: 'miss' }, languages] })
  const second = await panelOf<RequestReads>(app, await ask('/none'), 'cache')
  t.match(second, { hit: 2, miss: 0, shared: 0, first: [{ ...site, outcome: 'hit' }, languages] })
  t.ok(second.first.every(({ start }) => start > 0))
})

t.test('a read during another load of the same record shares that load', async t => {
  const response = await ask('/shared')
  t.match(await panelOf(app, response, 'cache'), { hit: 2, miss: 1, shared: 1 })
})

t.test('a record that is read by a secret does not reveal it', async t => {
  const response = await ask('/secret')
  t.match(await panelOf(app, response, 'cache'), {
    first: [{}, {}, { table: 'tokens', column: 'token', value: '[masked]' }],
  })
  t.notMatch((await app.inject(`/_profiler/${response.headers['x-debug-token']}`)).body, 'planted-hunter2')
})

t.test('the first of many reads are listed, and all are counted', async t => {
  const response = await ask('/many')
  const { first, hit } = await panelOf<RequestReads>(app, response, 'cache')
  t.equal(first.length, 300)
  t.ok(hit >= 2001)
  const shown = 'Showing the first 300 of 2002 reads. The totals include all of them.'
  for (const type of ['text/html', 'text/markdown']) t.match(await readPanel(app, response, 'cache', type), shown)
  t.match((await app.inject(`/_profiler/${response.headers['x-debug-token']}`)).json().notes, [
    'Only the first 500 cache reads are on the timeline.',
  ])
})

t.test('a request that reads nothing has no data', async t => {
  t.equal(await panelOf(app, await ask('/none', 'not..valid'), 'cache'), null)
})

t.test('an answer from stale records while the database is down says so', async t => {
  t.notOk('x-debug-stale' in (await ask('/room')).headers)
  app.entityCache.listen()
  app.entityCache.deafen()
  await ask('/none')
  isLost = true
  t.match(await ask('/room'), { body: 'Salle 1', headers: { 'x-debug-stale': 'rooms' } })
  t.match(await ask('/room'), { body: 'Salle 1', headers: { 'x-debug-stale': 'rooms' } })
  const remoteAddress = '203.0.113.7'
  const fromElsewhere = await app.inject({ url: '/room', headers: { host: 'museum.test' }, remoteAddress })
  t.equal(fromElsewhere.body, 'Salle 1')
  t.notOk('x-debug-stale' in fromElsewhere.headers)
  app.entityCache.listen()
})
