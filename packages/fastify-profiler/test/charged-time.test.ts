import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { sliceTime, slowestCalls } from '../features/performance/exclusive-time.ts'
import { openPool } from './drivers/postgres-server.ts'
import { standIn, standInService } from './drivers/stand-in-server.ts'
import {
  deferred,
  everythingStored,
  listen,
  onlyProfile,
  pageOf,
  profiledApp,
  profileOf,
  sendAndLeave,
} from './profiled-app.ts'

/** The profile of a request that a call outlives. */
async function profileAnsweredLate(t: Test, app: FastifyInstance, answered: ReturnType<typeof deferred>) {
  await app.inject('/')
  // Longer than clocks may differ by.
  await sleep(20)
  answered.resolve()
  await everythingStored(app)
  return onlyProfile(t, app, '/')
}

t.test('a call that had not ended when the response was sent has no share in the request', async t => {
  const answered = deferred()
  const origin = await standInService(t, async ({ url }, response) => {
    if (url === '/late') await answered.promise
    response.end('{}')
  })
  const app = await profiledApp(t, { patience: 60_000 })
  app.get('/', async () => {
    void fetch(`${origin}/late`).then(response => response.text())
    await (await fetch(`${origin}/soon`)).text()
    await sleep(30)
    return 'done'
  })
  const profile = await profileAnsweredLate(t, app, answered)
  const calls = slowestCalls(profile, sliceTime(profile)).map(({ span }) => span?.name ?? '')
  t.notOk(calls.some(name => name.endsWith('/late')))
  t.equal(profile.http?.calls[0]?.isLate, true)
  // The 30 ms after the other call are not charged to this one.
  t.ok(Number(profile.http?.duration) <= profile.duration - 20, JSON.stringify(profile.http))
  const page = await pageOf(app, `${profile.token}?panel=http-client`, 'text/markdown')
  t.match(page, /\/late` after the response/)
  t.notMatch(page, 'if one after another')
})

t.test('the head of an answer may have delayed the response, although its body ended later', async t => {
  const answered = deferred()
  const origin = await standInService(t, async (_request, response) => {
    response.write('{')
    await answered.promise
    response.end('}')
  })
  const app = await profiledApp(t, { patience: 60_000 })
  app.get('/', async () => {
    const { body, status } = await fetch(origin)
    void body?.pipeTo(new WritableStream())
    return status
  })
  const profile = await profileAnsweredLate(t, app, answered)
  t.equal(profile.http?.calls[0]?.isLate, true)
  const charged = Number(profile.http?.duration)
  t.ok(charged > 0 && charged <= profile.duration, `${charged} ms`)
})

t.test('a wait for a connection that no query got is one span, also if the response shows the profile', async t => {
  const port = await standIn(t, () => {})
  const pool = openPool(t, port, { connectionTimeoutMillis: 60 })
  const app = await profiledApp(t)
  app.get('/', async (_request, reply) => {
    await pool.connect().catch(() => null)
    return reply.type('text/html').send('<html><body></body></html>')
  })
  const { body } = await app.inject({ url: '/', headers: { accept: 'text/html' } })
  t.match(body, 'toolbar.js')
  const { spans } = await onlyProfile(t, app, '/')
  t.equal(spans.filter(({ kind }) => kind === 'wait').length, 1)
})

for (const library of ['pg', 'postgres.js']) {
  t.test(`a query of ${library} without a connection was never sent, and only waited`, async t => {
    // It accepts, and never answers.
    const port = await standIn(t, () => {})
    const pool = openPool(t, port, { connectionTimeoutMillis: 60 })
    const sql = postgres({ host: '127.0.0.1', port, user: 'nobody', connect_timeout: 0.06 })
    t.teardown(() => sql.end({ timeout: 0 }))
    const app = await profiledApp(t)
    app.get('/', async () => (library === 'pg' ? pool.query('select 1') : sql`select 1`))
    const profile = await profileOf(app, '/')
    t.match(profile.database, { duration: 0, queries: [{ unsent: true }] })
    const performance = await pageOf(app, `${profile.token}?panel=performance`, 'text/markdown')
    t.match(performance, /No connection within [\d.,]+ ms\..*What waited for it was never sent/)
    t.notMatch(performance, /harmless|select: /)
    const database = await pageOf(app, `${profile.token}?panel=database`, 'text/markdown')
    t.match(
      database,
      /of the request: none[^]*longest wait for a connection: [\d.,]+ ms[^]*Not sent: it got no connection/,
    )
  })
}

t.test(
  'a query that waits when its client leaves has a shape, and its handler ran no longer than the request',
  async t => {
    const redis = new Redis({ port: 1, maxRetriesPerRequest: null })
    redis.on('error', () => {})
    t.teardown(() => redis.disconnect())
    const app = await profiledApp(t, { patience: 300 })
    const begun = deferred()
    app.get('/', async () => {
      begun.resolve()
      return redis.get('key')
    })
    // In many turns, since a busy machine's pause in one counts as blocked and not as waited.
    const leave = begun.promise.then(async () => {
      for (let turn = 0; turn < 10; turn++) await sleep(3)
    })
    const { port } = await listen(app)
    await sendAndLeave(port, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n', leave)
    await everythingStored(app)
    const profile = await onlyProfile(t, app, '/')
    t.match(profile.database, { count: 1, shapes: 1, queries: [{ duration: null, unsent: true }] })
    const handler = profile.spans.find(({ kind }) => kind === 'handler')
    t.equal(handler?.outcome, 'unfinished')
    t.ok(Number(handler?.duration) <= profile.duration, JSON.stringify(handler))
    t.match(await pageOf(app, 'latest?panel=performance', 'text/markdown'), /No connection within [\d.,]+ ms\./)
  },
)
