import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import type { Profile } from '../core/profile.ts'
import { sliceTime, slowestCalls } from '../features/performance/exclusive-time.ts'
import { openPool, servePostgres } from './drivers/postgres-server.ts'
import { standInService } from './drivers/stand-in-server.ts'
import { deferred, listen, pageOf, profiledApp, profileOf } from './profiled-app.ts'

const port = await servePostgres(t)

const open = (t: Test, options: pg.PoolConfig = {}) => openPool(t, port, { max: 2, ...options })

/** Runs without a pause. */
function burn(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

const waitsIn = ({ spans }: Profile) => spans.flatMap(({ wait }) => wait ?? [])

/** What the Performance panel says to agents. */
const performanceOf = (app: FastifyInstance, { token }: Profile) =>
  pageOf(app, `${token}?panel=performance`, 'text/markdown')

/** The longest time that the event loop was blocked. A busy machine adds some. */
const longestOf = ({ blocked }: Profile['eventLoop']) =>
  blocked.reduce((longest, one) => (one.duration > longest.duration ? one : longest))

/** Whether the slowest calls of a profile add up to its duration. */
function addUp(t: Test, profile: Profile): void {
  const sum = slowestCalls(profile, sliceTime(profile)).reduce((total, { time }) => total + time, 0)
  t.ok(Math.abs(sum - profile.duration) < 0.1, `${sum} of ${profile.duration} ms`)
}

t.test('a query of a pool without connections waits for one to be opened, which is not its own time', async t => {
  const app = await profiledApp(t)
  const pool = open(t, { user: 'sleep 40' })
  app.get('/', async () => (await pool.query('select 1')).rowCount)
  const profile = await profileOf(app, '/')
  const [query] = profile.database?.queries ?? []
  const closing = { option: 'idleTimeoutMillis', after: 10_000 }
  t.match(waitsIn(profile), [{ pool: { open: 0, free: 0, most: 2, waiting: 0, closing } }])
  t.ok(Number(query?.waited) >= 35 && Number(query?.duration) < profile.duration - 35, JSON.stringify(query))
  const text = await performanceOf(app, profile)
  t.match(text, /The pool had no open connection: opening one took [\d.]+ ms\. Idle ones are closed after 10 s/)
  t.notMatch(text, 'in use')
  addUp(t, profile)
})

t.test('that all connections were in use is said with the counts of the pool', async t => {
  const app = await profiledApp(t)
  const pool = open(t)
  app.get('/', async () => (await pool.query('select 1')).rowCount)
  const held = [await pool.connect(), await pool.connect()]
  const others = [pool.query('select 2'), pool.query('select 3')]
  setTimeout(() => held.map(client => client.release()), 40)
  const profile = await profileOf(app, '/')
  await Promise.all(others)
  t.match(waitsIn(profile), [{ pool: { open: 2, free: 0, most: 2, waiting: 2 } }])
  t.match(await performanceOf(app, profile), /Waited [\d.]+ ms for a connection: 2 of 2 in use, 2 waiting\./)
  addUp(t, profile)
})

t.test('a query of postgres.js waits for earlier ones only if they were seen to run', async t => {
  const app = await profiledApp(t)
  const sql = postgres({ host: '127.0.0.1', port, user: 'sleep 40', max: 1 })
  t.teardown(() => sql.end())
  app.get('/', async () => (await sql`select 1`).length)
  app.get('/two', async () => (await Promise.all([sql`select 'sleep 40'`, sql`select 2`])).length)
  const opening = await performanceOf(app, await profileOf(app, '/'))
  t.match(opening, /Waited [\d.]+ ms for a connection\. `/)
  const behind = await performanceOf(app, await profileOf(app, '/two'))
  t.match(behind, /Waited .* for a connection that was busy with earlier queries/)
})

t.test('a connection that is asked for by itself is waited for by its first query, or by nothing', async t => {
  const app = await profiledApp(t)
  const pool = open(t, { user: 'sleep 30', max: 1, connectionTimeoutMillis: 80 })
  app.get('/', async () => {
    const client = await pool.connect() // connects
    await client.query('select 1')
    const failed = await pool.connect().catch((error: Error) => error.message)
    client.release()
    return failed
  })
  const profile = await profileOf(app, '/')
  const [query] = profile.database?.queries ?? []
  t.ok(Number(query?.waited) >= 25, 'the wait before it')
  const waits = profile.spans.filter(({ kind }) => kind === 'wait')
  t.match(waits, [{ outcome: 'threw', wait: { pool: { open: 1, most: 1 } } }])
  t.match(
    await performanceOf(app, profile),
    /No connection within [\d.]+ ms: 1 of 1 in use, 0 waiting\. What waited for it was never sent/,
  )
  addUp(t, profile)
})

t.test('a transaction that waited for its connection is open while the request waits for something else', async t => {
  const app = await profiledApp(t)
  const pool = open(t, { max: 1 })
  app.get('/', async () => {
    const client = await pool.connect()
    await client.query('begin')
    await sleep(80)
    await client.query('commit')
    client.release()
  })
  const held = await pool.connect()
  const answer = profileOf(app, '/')
  await sleep(120)
  held.release()
  const { token } = await answer
  t.match(await pageOf(app, `${token}?panel=performance`, 'text/markdown'), /The transaction of query 1 was open for/)
  t.notMatch(await pageOf(app, `${token}?panel=database`, 'text/markdown'), 'after the response')
})

t.test('a query is not charged for the code of its request that blocks the event loop', async t => {
  const app = await profiledApp(t)
  const pool = open(t)
  app.get('/', async function calculate() {
    const asked = pool.query('select 1')
    burn(120)
    return (await asked).rowCount
  })
  await profileOf(app, '/')
  const profile = await profileOf(app, '/')
  const { database, duration, eventLoop, token } = profile
  const [query] = database?.queries ?? []
  t.ok(Number(query?.duration) + Number(query?.waited) < duration - 110, JSON.stringify(query))
  t.equal(longestOf(eventLoop)?.by, token)
  const told = Number(/ query;dur=([\d.]+)/.exec(JSON.stringify(profile.response.headers))?.[1])
  t.ok(Math.abs(told - Number(database?.duration)) < 0.1, `Server-Timing has ${told} ms`)
  const text = await performanceOf(app, profile)
  t.match(text, /calculate without its calls: .* of the request\. It blocked the event loop for .*X-Profile: cpu/)
  t.notMatch(text, 'for a connection')
  addUp(t, profile)
})

t.test('a request that another one blocks says so, and no query or call of it is charged', async t => {
  const app = await profiledApp(t)
  const pool = open(t)
  const service = await standInService(t, (_request, response) => setTimeout(() => response.end('ok'), 20))
  const asked = deferred()
  app.get('/', async () => {
    const answers = [pool.query('select sleep 20'), fetch(service).then(response => response.text())]
    asked.resolve()
    await Promise.all(answers)
    return 'ok'
  })
  app.get('/burn', async () => {
    burn(150)
    return 'burnt'
  })
  await profileOf(app, '/')
  const { origin } = await listen(app)
  const [victim, culprit] = await Promise.all([fetch(origin), asked.promise.then(() => fetch(`${origin}/burn`))])
  const profile = await app.profiler.find(String(victim.headers.get('x-debug-token')))
  if (profile === null) return t.fail()
  const by = culprit.headers.get('x-debug-token')
  t.equal(longestOf(profile.eventLoop)?.by, by)
  const { database, duration, http } = profile
  t.ok(Number(database?.duration) < duration - 140 && Number(http?.duration) < duration - 140)
  t.ok(Number(database?.queries[0]?.blocked) >= 100 && Number(http?.calls[0]?.blocked) >= 100)
  const text = await performanceOf(app, profile)
  t.match(text, new RegExp(`The event loop was blocked for .* of the request\\..*another request .*\`${by}\``))
  addUp(t, profile)
})

t.test('five thousand queries keep their sums: the handler is not blamed for those past the bound', async t => {
  const app = await profiledApp(t)
  const pool = open(t)
  app.get('/', async () => {
    for (let number = 0; number < 5000; number++) await pool.query('select 1')
    return 'ok'
  })
  const profile = await profileOf(app, '/')
  const { database, duration, spans } = profile
  t.match(database, {
    count: 5000,
    shapes: 1,
    statements: [{ sql: 'select ?', count: 5000 }],
    queries: { length: 100 },
  })
  const [slowest] = slowestCalls(profile, sliceTime(profile)).filter(({ kind }) => kind === 'sql')
  t.equal(slowest?.times, 5000, 'one line with all of them')
  const single = Number(database?.statements?.[0]?.duration)
  t.ok(Math.abs(Number(slowest?.time) - single) < duration * 0.2, `${slowest?.time} and ${single} of ${duration} ms`)
  t.ok(spans.length < 1200)
  addUp(t, profile)
  const { profiles } = await app.profiler.search({ url: '/' })
  t.match(profiles, [{ queries: { count: 5000 }, statements: [{ count: 5000 }] }])
})

t.test('calls and queries that overlap are not added up past the time of their request', async t => {
  const app = await profiledApp(t)
  const pool = open(t)
  app.get('/', async () => {
    await Promise.all([pool.query('select sleep 30'), pool.query('select sleep 31'), pool.query('select sleep 32')])
    return 'ok'
  })
  const profile = await profileOf(app, '/')
  t.ok(Number(profile.database?.duration) <= profile.duration)
  addUp(t, profile)
})

t.test('a body that is not parsed was not recorded, which is not said to be none', async t => {
  const app = await profiledApp(t)
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
  app.post('/rows', async () => 'ok')
  app.post('/upload', async ({ body }) => {
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length
    return bytes
  })
  const request = { method: 'POST', url: '/upload', payload: Buffer.alloc(3000) } as const
  const upload = await profileOf(app, { ...request, headers: { 'content-type': 'application/octet-stream' } })
  t.match(upload.request, { body: null, bodySize: 3000 })
  const text = await pageOf(app, `${upload.token}?panel=request`, 'text/markdown')
  t.match(text, 'Not recorded: body of 3.00 kB. The application did not parse it.')
  t.notMatch(text, 'no body')
  const { request: rows, token } = await profileOf(app, { ...request, url: '/rows', payload: Array(21_334).fill(1) })
  t.equal(Array.isArray(rows.body) && rows.body.at(-1), '… shortened, 19,334 more')
  t.match(await pageOf(app, `${token}?panel=request`, 'text/markdown'), 'shortened, 19,334 more')
})
