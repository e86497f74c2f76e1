import { createRequire } from 'node:module'
import pg from 'pg'
import QueryStream from 'pg-query-stream'
import t, { type Test } from 'tap'
import { profileOf } from './driver-app.ts'
import { openPool, servePostgres } from './postgres-server.ts'

const port = await servePostgres(t)

const open = (t: Test, options: pg.PoolConfig = {}) => openPool(t, port, options)

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
  const found = database?.queries.map(({ sql, transaction }) => `${transaction} ${sql}`)
  t.strictSame(found, ['1 begin', '1 select sleep 30', '1 commit', '2 begin', '2 select sleep 30', '2 commit'])
  t.equal(database?.transactions, 2)
  const waits = database?.queries.map(({ waited }) => waited) ?? []
  const [first = 0, , , second = 0] = waits
  t.ok(second > first, `waited ${waits.join(', ')} ms`)
  const shown = waits.map(waited => waited > 0)
  t.strictSame(shown, [true, false, false, true, false, false])
})

t.test("a query's wait includes the time behind earlier queries of its client", async t => {
  const pool = open(t)
  const { database } = await profileOf(t, async () => {
    const client = await pool.connect()
    process.removeAllListeners('deprecation')
    await Promise.all([client.query('select sleep 30'), client.query('select sleep 10')])
    client.release()
  })
  const [first, second] = database?.queries ?? []
  t.ok(Number(second?.waited) >= 15, `waited ${second?.waited} ms`)
  t.match([first?.bytes, second?.bytes], [Number, undefined], 'bytes are told of a query that nothing is ahead of')
})

t.test('each query keeps its own values, though the application uses one list for all', async t => {
  const pool = open(t)
  const { database } = await profileOf(t, async () => {
    const values = [new Date(0), 0]
    for (const id of [1, 2]) {
      values[1] = id
      await pool.query('select $1::date, $2::int', values)
    }
  })
  t.same(
    database?.queries.map(({ parameters }) => parameters[1]),
    [1, 2],
  )
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
