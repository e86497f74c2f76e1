import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { SecurityData } from '../../../plugins/debug/panels/security.ts'
import { expectedErrors } from '../../../src/errors/http-errors.ts'
import { missingRoutes } from '../../../plugins/not-found.ts'
import { verdicts } from '../../../plugins/checks.ts'
import { addLicense, addUser, build, openTestDatabase, signIn } from '../../support/site.ts'
import { hearQueries } from '../../support/sent-queries.ts'
import { buildDebugged, panelOf, withoutProfile } from './panels/panels.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test', languages: ['en', 'de'] })
const depot = await addLicense(database, { domain: 'protected.test', protected: true })
await addUser(database, { email: 'member@museum.test', licenses: [depot] })
for (const number of [1, 2, 3, 4, 5]) await addLicense(database, { domain: `cold-${number}.test` })

async function routes(app: FastifyInstance) {
  app.get('/', async request => request.locale)
  app.get('/slash/', async () => 'inside')
  app.get('/open', { config: { license: 'optional' } }, async () => 'inside')
  app.post('/', async () => 'posted')
  app.get('/broken', async () => {
    throw new Error('It broke.')
  })
}

const environment = { COOKIE_SECRET: 'a secret of more than thirty-two characters' }
const watchers = [verdicts, missingRoutes, expectedErrors]
const outsider = '203.0.113.7'

/** Tells the queries of requests from those that an app sends by itself, such as a reload. */
const inRequest = new AsyncLocalStorage<true>()

/** What a client is told, without times and without what only a profiled answer has, and the queries that are sent. */
async function answersTo(app: FastifyInstance, asked: Asked[]) {
  const queries: string[] = []
  const stop = hearQueries(sql => {
    if (inRequest.getStore() === true) queries.push(sql)
  })
  const responses = await inRequest.run(true, () =>
    Promise.all(
      asked.map(({ host, method = 'GET', url = '/', headers }) =>
        app.inject({ method, url, remoteAddress: outsider, headers: { host, ...headers } }),
      ),
    ),
  )
  stop()
  return { answers: responses.map(withoutProfile), queries: queries.sort() }
}

interface Asked {
  host: string
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  url?: string
  headers?: Record<string, string>
}

const museum = 'museum.test'
const html = { accept: 'text/html' }
const unwatchedApp = await build(t, { database, routes, environment })
const cookie = await signIn(unwatchedApp, { host: 'protected.test', email: 'member@museum.test' })

const requests: Record<string, Asked[]> = {
  'a cold host': [{ host: museum }],
  'a host that is held': [{ host: museum }],
  'five cold hosts at once': [1, 2, 3, 4, 5].map(number => ({ host: `cold-${number}.test` })),
  'a host without a license': [{ host: 'unknown.test' }, { host: 'unknown.test', url: '/open' }],
  'an invalid host': [{ host: 'not..valid' }],
  'a path without a route': [
    { host: museum, url: '/nowhere' },
    { host: museum, url: '/nowhere', headers: { ...html, referer: 'http://museum.test/from' } },
    { host: museum, url: '/nowhere', method: 'HEAD' },
    { host: museum, url: '/open/x', headers: { accept: 'text/plain' } },
    { host: 'unknown.test', url: '/nowhere' },
  ],
  'a method that the path does not have': [{ host: museum, method: 'DELETE', headers: html }],
  'the other slash form': [{ host: museum, url: '/slash' }],
  'a URL that cannot be decoded': [{ host: museum, url: '/%zz', headers: html }],
  'a request from another site': [
    { host: museum, method: 'POST', headers: { cookie: 'a=b', origin: 'http://other.test' } },
  ],
  'nobody who is signed in': [{ host: 'protected.test' }, { host: 'protected.test', headers: html }],
  'somebody who is signed in': [{ host: 'protected.test', headers: { cookie } }],
  'a forged session': [{ host: 'protected.test', headers: { cookie: 'portico_session=forged' } }],
  'a language that is asked for': [{ host: museum, headers: { 'accept-language': 'de' } }],
  'a handler that fails': [{ host: museum, url: '/broken', headers: html }],
}

t.test('whatever DEBUG is, a client gets the same answers, for the same number of queries', async t => {
  const unwatched = await build(t, { database, routes, environment })
  const watched = await buildDebugged(t, { database, routes, environment })
  for (const [what, asked] of Object.entries(requests)) {
    t.strictSame(await answersTo(watched, asked), await answersTo(unwatched, asked), what)
  }
})

t.test('checks tell nobody of a verdict once the app is closed', async t => {
  const app = await buildDebugged(t, { database, routes })
  await app.ready()
  t.ok(watchers.every(({ hasSubscribers }) => hasSubscribers))
  await app.close()
  t.notOk(watchers.some(({ hasSubscribers }) => hasSubscribers))
})

t.test('a profile has the verdicts of its own request only, also while others of the process are asked', async t => {
  const debugged = await buildDebugged(t, { database, routes })
  const app = await buildDebugged(t, {
    database,
    async routes(app) {
      app.get('/', async () => {
        for (const other of [debugged, unwatchedApp]) {
          await other.inject({ url: '/', headers: { host: 'not..valid' } })
          await other.inject({ url: '/nowhere', headers: { host: museum } })
        }
        return 'asked'
      })
    },
  })
  const response = await app.inject({ url: '/', headers: { host: museum } })
  t.equal(response.statusCode, 200)
  const { checks } = await panelOf<SecurityData>(app, response, 'security')
  t.strictSame([...new Set(checks.map(({ verdict }) => verdict))], ['passed'])
  t.equal(await panelOf(app, response, 'exception'), null)
})
