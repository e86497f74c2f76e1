import { once } from 'node:events'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { LicenseData } from '../../plugins/debug/panels/license.ts'
import { addLicense, addUser, build, signIn } from '../support/site.ts'
import { makeFolder } from '../support/folder.ts'
import { keepLog } from '../support/log.ts'
import { createDatabase, serverUrl } from '../support/test-database.ts'
import { serveWire } from '../support/wire-server.ts'
import { panelOf } from './debug/panels/panels.ts'

async function routes(app: FastifyInstance) {
  app.get('/', async request => request.requireLicense().name)
}

const server = await serveWire(t)

t.test('a change missed while the listener was lost is seen once it listens again', async t => {
  const app = await build(t, { routes, environment: { DATABASE_URL: server.url } })
  const { db, changes } = app.database
  const ask = async () => (await app.inject({ url: '/', headers: { host: 'museum.test' } })).body
  await addLicense(app.database, { domain: 'museum.test', name: 'Before' })
  t.equal(await ask(), 'Before')

  // This server notifies only the connection that makes a change: the listener misses it.
  await db.updateTable('licenses').set({ name: 'After' }).execute()
  const listening = once(changes, 'listening')
  server.cut(0)
  await listening
  t.equal(await ask(), 'After')
})

t.test('while the database is unreachable, known hosts are served and unknown ones get 503', async t => {
  const app = await build(t, { routes, environment: { DATABASE_URL: server.url } })
  const { availability, db } = app.database
  const ask = (host: string) => app.inject({ url: '/', headers: { host } })
  await addLicense(app.database, { domain: 'known.test', name: 'Known' })
  t.equal((await ask('known.test')).body, 'Known')

  const lost = once(availability, 'lost')
  server.cut(Infinity)
  await lost
  const known = await ask('known.test')
  t.match(known, { statusCode: 200, body: 'Known' })
  t.notOk('x-debug-stale' in known.headers)
  const unknown = await ask('unknown.test')
  t.match(unknown, { statusCode: 503, headers: { 'retry-after': '2' } })
  t.match(unknown.json(), {
    title: 'Service Unavailable',
    status: 503,
    detail: 'This site is temporarily unavailable.',
  })

  const found = once(availability, 'found')
  server.cut(0)
  await found
  await db.updateTable('licenses').set({ name: 'Renamed' }).where('domain', '=', 'known.test').execute()
  t.equal((await ask('known.test')).body, 'Renamed')
  t.equal((await ask('unknown.test')).statusCode, 404)
})

t.test('while the database is unreachable, a path without a route is a 404 at every host', async t => {
  const app = await build(t, { routes, environment: { DATABASE_URL: server.url, DATA_DIR: makeFolder(t), DEBUG: '1' } })
  await addLicense(app.database, { domain: 'known.test' })
  t.match(await app.inject({ method: 'POST', url: '/absent', headers: { host: 'known.test' } }), { statusCode: 404 })
  app.entityCache.change('license_languages', null)
  app.database.availability.lose(new Error('gone'))
  for (const host of ['known.test', 'unknown.test']) {
    // Strangers find no profiler.
    for (const url of ['/absent', '/_profiler/']) {
      const answer = await app.inject({ url, headers: { host }, remoteAddress: '192.0.2.1' })
      t.match(answer.json(), { status: 404, detail: `No route found for "GET ${url}"` }, host)
    }
  }
  const answer = await app.inject({ url: '/absent', headers: { host: 'unknown.test' } })
  t.match(await panelOf<LicenseData>(app, answer, 'license'), { lookup: 'failed', reason: /could not be read/ })
})

t.test('the log says when the database is lost and when it is back', async t => {
  const { logger, records } = keepLog()
  const app = await build(t, { routes, environment: { DATABASE_URL: server.url }, logger })
  const { availability } = app.database
  availability.lose(new Error('gone'))
  availability.lose(new Error('still gone'))
  await app.inject({ url: '/', headers: { host: 'unknown.test' } })
  availability.find()
  availability.find()
  const said = records().filter(({ msg }) => !/request|^Database:/.test(msg))
  t.match(said, [
    { level: 50, msg: 'The database is lost. Cached records are still served.', err: { message: 'gone' } },
    { level: 40, msg: 'This site is temporarily unavailable.', reason: 'still gone' },
    { level: 30, msg: 'The database is back.' },
  ])
  t.equal(said.length, 3)
})

t.test(
  'Two servers on one PostgreSQL, with one COOKIE_SECRET and one DATA_DIR',
  { skip: serverUrl === undefined && 'TEST_DATABASE_URL names none' },
  async t => {
    if (serverUrl === undefined) return
    const environment = {
      DATABASE_URL: await createDatabase(t, serverUrl),
      DATA_DIR: makeFolder(t),
      COOKIE_SECRET: 'a secret of more than thirty-two characters',
      DEBUG: '1',
    }
    const [one, other] = await Promise.all([build(t, { routes, environment }), build(t, { routes, environment })])
    const license = await addLicense(one.database, {
      domain: 'museum.test',
      name: 'Before',
      protected: true,
      languages: ['nl', 'fr'],
    })
    await addUser(one.database, { email: 'member@museum.test', licenses: [license] })
    const host = 'museum.test'
    const cookie = await signIn(one, { host, email: 'member@museum.test' })
    const ask = (app: FastifyInstance, headers: Record<string, string> = {}) =>
      app.inject({ url: '/', headers: { host, cookie, ...headers } })

    t.test('a user who signs in to one is signed in to the other', async t => {
      t.match(await ask(other), { statusCode: 200, body: 'Before' })
    })

    t.test('a change made at one is in the next answer of the other', async t => {
      t.equal((await ask(other)).body, 'Before')
      const heard = once(other.database.changes, 'change')
      await one.database.db.updateTable('licenses').set({ name: 'After' }).execute()
      await heard
      t.equal((await ask(other)).body, 'After')
    })

    t.test('the profile of a request to one can be opened at the other', async t => {
      const { headers } = await ask(one)
      await one.profiler.settled()
      t.match(await other.inject({ url: `/_profiler/${headers['x-debug-token']}`, headers: { host: 'localhost' } }), {
        statusCode: 200,
      })
    })

    t.test('a user who signs out of one is signed out of the other', async t => {
      const heard = once(other.database.changes, 'change')
      t.match(await one.inject({ method: 'POST', url: '/logout', headers: { host, cookie } }), { statusCode: 303 })
      await heard
      t.equal((await ask(other)).statusCode, 401)
    })
  },
)
