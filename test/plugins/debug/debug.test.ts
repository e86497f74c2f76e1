import t, { type Test } from 'tap'
import Fastify, { type FastifyInstance } from 'fastify'
import { licensePanel } from '../../../plugins/debug/panels/license.ts'
import { securityPanel } from '../../../plugins/debug/panels/security.ts'
import profiler, { profiledOptions } from 'fastify-profiler'
import { ReadLog } from '../../../plugins/debug/reads.ts'
import { VerdictLog } from '../../../plugins/debug/verdict-log.ts'
import { addLicense, build, openTestDatabase } from '../../support/site.ts'
import { makeFolder } from '../../support/folder.ts'
import { buildDebugged, panelOf, readPanel, withoutProfile } from './panels/panels.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test', languages: ['de', 'en'] })

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'inside')
  app.get('/broken', async () => {
    throw new Error('It broke.')
  })
}

const app = await buildDebugged(t, { database, routes, environment: { DEBUG_ALLOW: '198.51.100.0/24' } })

/** Everything a client receives, in order, except the date and what identifies the request's profile. */
async function answerOf(
  app: FastifyInstance,
  url: string,
  accept: string,
  remoteAddress = '127.0.0.1',
): Promise<string> {
  const response = await app.inject({ url, remoteAddress, headers: { host: 'museum.test', accept } })
  return JSON.stringify(withoutProfile(response))
}

/** Tests that the profiler's paths get the same answer as unknown paths of the same length. */
async function testUnknown(t: Test, app: FastifyInstance, accept: string, remoteAddress?: string): Promise<void> {
  for (const end of ['', '/', '/x', '/latest?panel=exception', '/assets/profiler.js']) {
    const path = `/_profiler${end}`
    const unknown = await answerOf(app, path.replace('_profiler', '_unproved'), accept, remoteAddress)
    t.equal(await answerOf(app, path, accept, remoteAddress), unknown.replaceAll('_unproved', '_profiler'), path)
  }
}

t.test('the profiler answers on localhost and licensed hosts only', async t => {
  for (const [host, status] of [
    ['localhost', 200],
    ['127.0.0.1:3000', 200],
    ['museum.test', 200],
    ['MUSEUM.test:8080', 200],
    ['unknown.test', 403],
    ['not..valid', 403],
    ['a'.repeat(256), 403],
  ] as const) {
    t.equal((await app.inject({ url: '/_profiler/', headers: { host } })).statusCode, status, host)
  }
})

t.test('a host whose license cannot be looked up is not trusted', async t => {
  const select = database.db.selectFrom
  t.teardown(() => {
    database.db.selectFrom = select
  })
  database.db.selectFrom = () => {
    throw new Error('The database is down.')
  }
  t.equal((await app.inject({ url: '/_profiler/', headers: { host: 'third.test' } })).statusCode, 403)
})

t.test("the profiler's own license lookup is not recorded as a read of the request", async t => {
  const response = await app.inject({ url: '/broken', headers: { host: 'not..valid', accept: 'text/html' } })
  t.equal(response.statusCode, 400)
  t.equal(await panelOf(app, response, 'cache'), null)
  t.equal(await panelOf(app, response, 'database'), null)
})

for (const accept of ['*/*', 'text/html', 'text/plain']) {
  t.test(`an address that is not allowed gets the answer for any unknown path, in ${accept}`, async t => {
    await testUnknown(t, app, accept, '203.0.113.7')
  })

  t.test(`with DEBUG=0 the profiler's paths get the answer for any unknown path, in ${accept}`, async t => {
    await testUnknown(t, await build(t, { database, routes }), accept)
  })
}

t.test('in production clients on this machine may use the profiler only if DEBUG_ALLOW lists them', async t => {
  const environment = {
    NODE_ENV: 'Production',
    DATABASE_URL: 'embedded',
    COOKIE_SECRET: 'x'.repeat(32),
    DEBUG_ALLOW: '198.51.100.0/24',
  }
  const app = await buildDebugged(t, { database, routes, environment })
  await testUnknown(t, app, 'text/html')
  t.equal((await app.inject({ url: '/_profiler/', remoteAddress: '198.51.100.7' })).statusCode, 200)
})

t.test('EDITOR_URL turns file names into links', async t => {
  const app = await buildDebugged(t, { database, routes, environment: { EDITOR_URL: 'vscode://file/{file}:{line}' } })
  const response = await app.inject({ url: '/broken', headers: { host: 'museum.test' } })
  const html = await readPanel(app, response, 'exception', 'text/html')
  t.match(html, /href="vscode:\/\/file\/[^"]+\/test\/plugins\/debug\/debug\.test\.ts:\d+"/)
})

t.test('the configuration panel shows the settings without the database password', async t => {
  const environment = { DATABASE_URL: 'postgres://portico:hunter2@127.0.0.1/portico' }
  const app = await buildDebugged(t, { database, routes, environment })
  const response = await app.inject({ url: '/', headers: { host: 'museum.test' } })
  const html = await readPanel(app, response, 'configuration', 'text/html')
  t.match(html, 'PostgreSQL')
  t.notMatch(html, 'hunter2')
})

t.test('closing an app removes its listeners for reads', async t => {
  const app = await buildDebugged(t, { database, routes })
  await app.ready()
  await app.close()
  t.equal(app.entityCache.events.listenerCount('read'), 0)
})

t.test("a request that Fastify refuses while closing has a profile without data in Portico's panels", async t => {
  const app = Fastify(profiledOptions({}))
  await app.register(profiler, {
    directory: makeFolder(t),
    panels: [licensePanel(new VerdictLog(), new ReadLog()), securityPanel(new VerdictLog(), () => new Map())],
  })
  let profile: unknown
  app.addHook('preClose', async () => {
    t.equal((await fetch(`${origin}/late`)).status, 503)
    profile = await app.profiler.find('latest')
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await app.close()
  t.match(profile, { url: '/late', status: 503, panels: {} })
  t.notMatch(profile, { panels: { license: {} } })
  t.notMatch(profile, { panels: { security: {} } })
})

t.test('agents ask for the profiles of any host, and clients that may not see them find nothing', async t => {
  await app.inject({ url: '/broken', headers: { host: 'museum.test' } })
  await app.profiler.settled()
  const ask = (remoteAddress: string) =>
    app.inject({
      method: 'POST',
      url: '/_profiler/mcp',
      remoteAddress,
      headers: { host: 'museum.test', accept: 'application/json', 'content-type': 'application/json' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'overview' } },
    })
  t.match((await ask('127.0.0.1')).json().result.content[0].text, /\/broken fails: .*It broke/)
  t.equal((await ask('192.0.2.1')).statusCode, 404)
})
