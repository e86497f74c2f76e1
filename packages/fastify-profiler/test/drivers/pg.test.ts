import { createRequire } from 'node:module'
import pg from 'pg'
import QueryStream from 'pg-query-stream'
import t, { type Test } from 'tap'
import { currentRecorder } from '../../index.ts'
import { linesOf, profileOf } from './driver-app.ts'
import { servePostgres } from './postgres-server.ts'

const port = await servePostgres(t)
const lineOf = linesOf(import.meta.filename)

function open(t: Test, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'tester', ...options })
  t.teardown(() => pool.end())
  return pool
}

t.test('a query of a pool has its statement, parameters, rows, times and caller', async t => {
  const pool = open(t)
  const { database, spans } = await profileOf(t, async () => {
    await pool.query('select sleep 20 from museums where id = $1', [7]) // sent by a pool
  })
  t.match(database, {
    count: 1,
    failed: 0,
    rows: 1,
    queries: [
      {
        system: 'postgresql',
        sql: 'select sleep 20 from museums where id = $1',
        parameters: [7],
        rows: 1,
        error: null,
        transaction: null,
        location: { line: lineOf('sent by a pool') },
      },
    ],
  })
  t.ok(Number(database?.queries[0]?.duration) >= 10)
  t.match(
    spans.filter(({ kind }) => kind === 'query'),
    [{ name: 'select museums', detail: 'select sleep 20 from museums where id = $1', outcome: 'continued' }],
  )
})

for (const [form, send] of Object.entries({
  'a text and a callback': (pool, done) => pool.query('select 1', done), // sent
  'a text, values and a callback': (pool, done) => pool.query('select 1', [], done), // sent
  'a configuration and a callback': (pool, done) => pool.query({ text: 'select 1', values: [] }, done), // sent
} satisfies Record<string, (pool: pg.Pool, done: (error: Error | undefined, result: unknown) => void) => void>)) {
  t.test(`a query with ${form} has its caller, and the callback runs in its request`, async t => {
    const pool = open(t)
    let isSame = false
    const { database } = await profileOf(t, async () => {
      const recorder = currentRecorder()
      await new Promise<void>((resolve, reject) => {
        send(pool, error => {
          isSame = recorder === currentRecorder()
          if (error) reject(error)
          else resolve()
        })
      })
    })
    t.ok(isSame)
    t.match(database, { count: 1, queries: [{ sql: 'select 1', rows: 1, location: { file: /pg\.test\.ts$/ } }] })
  })
}

t.test('a query that nobody awaits has its caller', async t => {
  const pool = open(t)
  const { database } = await profileOf(t, () => {
    void pool.query('select sleep 20') // not awaited
  })
  t.match(database?.queries, [{ location: { line: lineOf('not awaited') }, rows: 1 }])
})

t.test('the wait for a connection is separate from the duration of a query', async t => {
  const pool = open(t, { max: 1 })
  const { database, duration } = await profileOf(t, () =>
    Promise.all([pool.query('select sleep 30'), pool.query('select sleep 31')]),
  )
  const [, second] = database?.queries ?? []
  t.ok(Number(second?.waited) >= 15, `waited ${second?.waited} ms`)
  t.ok(Number(second?.waited) + Number(second?.duration) <= duration, 'no time is in both')
  t.equal(database?.waited, second?.waited)
})

t.test('the wait for a client belongs to its first query', async t => {
  const pool = open(t, { max: 1 })
  const { database } = await profileOf(t, async () => {
    const use = async () => {
      const client = await pool.connect()
      await client.query('begin')
      await client.query('select sleep 30')
      await client.query('commit')
      client.release()
    }
    await Promise.all([use(), use()])
  })
  t.strictSame(
    database?.queries.map(({ sql, transaction }) => `${transaction} ${sql}`),
    ['1 begin', '1 select sleep 30', '1 commit', '2 begin', '2 select sleep 30', '2 commit'],
  )
  t.equal(database?.transactions, 2)
  const waits = database?.queries.map(({ waited }) => waited) ?? []
  const [first = 0, , , second = 0] = waits
  t.ok(second - first >= 15, `waited ${waits.join(', ')} ms`)
  t.strictSame(
    waits.map(waited => waited > 0),
    [true, false, false, true, false, false],
  )
})

t.test("a query's wait includes the time behind earlier queries of its client", async t => {
  const pool = open(t)
  const { database } = await profileOf(t, async () => {
    const client = await pool.connect()
    process.removeAllListeners('deprecation')
    await Promise.all([client.query('select sleep 30'), client.query('select sleep 10')])
    client.release()
  })
  const [, second] = database?.queries ?? []
  t.ok(Number(second?.waited) >= 15, `waited ${second?.waited} ms`)
})

t.test('the application gets the error of the driver itself, and an unhandled one stays unhandled', async t => {
  const pool = open(t)
  const thrown: unknown[] = []
  const { database } = await profileOf(t, async () => {
    await pool.query('fail here').catch((error: unknown) => thrown.push(error)) // failed
    const { promise, resolve } = deferredEvent()
    process.once('unhandledRejection', resolve)
    void pool.query('fail alone')
    thrown.push(await promise)
  })
  t.match(thrown, [
    { code: '42601', message: 'cannot fail here', stack: /pg\.test/ },
    { code: '42601', message: 'cannot fail alone' },
  ])
  t.match(database, {
    count: 2,
    failed: 2,
    queries: [{ error: 'error: cannot fail here', rows: null, location: { line: lineOf('failed') } }, { rows: null }],
  })
})

function deferredEvent() {
  let settle: (value: unknown) => void = () => {}
  const promise = new Promise(resolve => {
    settle = resolve
  })
  return { promise, resolve: (value: unknown) => settle(value) }
}

t.test('a stream is a query until it ends, and is passed on as it is', async t => {
  const pool = open(t)
  const { database } = await profileOf(t, async () => {
    const client = await pool.connect()
    const stream = new QueryStream('select one', [])
    t.equal(client.query(stream), stream) // streamed
    const rows: unknown[] = []
    for await (const row of stream) rows.push(row)
    t.strictSame(rows, [{ one: '1' }])
    client.release()
  })
  t.match(database?.queries, [{ sql: 'select one', location: { line: lineOf('streamed') } }])
  t.ok(database?.queries[0]?.duration !== null)
})

t.test('the error of a stream is that of its query, and reaches who reads it', async t => {
  const pool = open(t)
  const { database } = await profileOf(t, async () => {
    const client = await pool.connect()
    const stream = client.query(new QueryStream('fail here', []))
    await t.rejects(stream.toArray(), { message: 'cannot fail here' })
    client.release()
  })
  t.match(database?.queries, [{ sql: 'fail here', error: 'error: cannot fail here' }])
})

t.test('methods keep their name and length, and a call without a query fails as before', async t => {
  t.equal(pg.Client.prototype.query.name, 'query')
  t.equal(pg.Client.prototype.query.length, 3)
  t.equal(pg.Pool.prototype.connect.length, 1)
  const pool = open(t)
  await profileOf(t, async () => {
    const client = await pool.connect()
    t.throws(() => Reflect.apply(client.query, client, [null]), {
      message: 'Client was passed a null or undefined query',
    })
    client.release()
    await t.rejects(Reflect.apply(pool.query, pool, [() => {}]) ?? Promise.reject(new Error('called back')))
  })
})

t.test('a second copy of the library is watched, too', async t => {
  const require = createRequire(import.meta.url)
  const copies = Object.keys(require.cache).filter(file => /[\\/]node_modules[\\/]pg(?:-pool)?[\\/]/.test(file))
  for (const file of copies) Reflect.deleteProperty(require.cache, file)
  const copy: typeof pg = require('pg')
  t.not(copy.Client, pg.Client)
  const client = new copy.Client({ host: '127.0.0.1', port, user: 'tester' })
  await client.connect()
  t.teardown(() => client.end())
  const { database } = await profileOf(t, () => client.query('select 1'))
  t.match(database, { count: 1 })
})

t.test('a query outside any request is in no profile', async t => {
  const pool = open(t)
  await profileOf(t, () => 'installs the drivers')
  t.match(await pool.query('select 1'), { rowCount: 1 })
})
