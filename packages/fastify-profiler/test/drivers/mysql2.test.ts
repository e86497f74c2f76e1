import { once } from 'node:events'
import { createPool, createServer, type Connection, type PoolOptions } from 'mysql2'
import { createPool as createPromisePool } from 'mysql2/promise'
import t, { type Test } from 'tap'
import { currentRecorder } from '../../index.ts'
import { linesOf, profileOf } from './driver-app.ts'

const lineOf = linesOf(import.meta.filename)

/** mysql2's own server: it answers every statement with one row. "fail" fails, and "sleep 20" takes 20 ms. */
const server = createServer(() => {})
const sessions = new Set<Connection>()
server.on(
  'connection',
  (
    session: Connection &
      Record<'serverHandshake' | 'writeOk' | 'writeError' | 'writeTextResult', (...args: unknown[]) => void>,
  ) => {
    sessions.add(session)
    session.on('error', () => {})
    session.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.0',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 8,
      capabilityFlags: 0xffffff ^ 0x800,
    })
    session.on('query', (sql: string) => {
      // A response begins a new sequence of packets.
      Reflect.set(session, 'sequenceId', 1)
      const [, milliseconds = '0'] = /sleep (\d+)/.exec(sql) ?? []
      setTimeout(() => {
        if (sql.startsWith('fail')) session.writeError({ code: 1064, message: `cannot ${sql}` })
        else if (/^(?:start|commit|update)/i.test(sql)) session.writeOk({ affectedRows: 3 })
        else {
          const column = {
            catalog: 'def',
            schema: '',
            table: '',
            orgTable: '',
            name: 'one',
            orgName: 'one',
            characterSet: 33,
            columnLength: 4,
            columnType: 253,
            flags: 0,
            decimals: 0,
          }
          session.writeTextResult([{ one: '1' }], [column])
        }
        // The next command begins a new sequence of packets.
        Reflect.set(session, 'sequenceId', 0)
      }, Number(milliseconds))
    })
  },
)
server.listen(0)
await once(Reflect.get(server, '_server'), 'listening')
const { port } = Object(Reflect.get(server, '_server').address())
t.teardown(() => {
  for (const session of sessions) session.destroy()
  Reflect.apply(server.close, server, [])
})

function options(more: PoolOptions = {}): PoolOptions {
  return { host: '127.0.0.1', port, user: 'root', ...more }
}

function open(t: Test, more?: PoolOptions) {
  const pool = createPool(options(more))
  t.teardown(() => pool.promise().end())
  return pool
}

function openPromised(t: Test, more?: PoolOptions) {
  const pool = createPromisePool(options(more))
  t.teardown(() => pool.end())
  return pool
}

t.test('an awaited query has its statement, parameters, rows, times and caller', async t => {
  const pool = openPromised(t)
  const { database } = await profileOf(t, async () => {
    await pool.query('select sleep 20 from `users` where id = ? and password = ?', [7, 'hunter2']) // awaited
    await pool.query({ sql: 'update users set id = :id', values: { id: 8, token: 'x' } })
  })
  t.match(database, {
    count: 2,
    failed: 0,
    rows: 4,
    queries: [
      {
        system: 'mysql',
        sql: 'select sleep 20 from `users` where id = ? and password = ?',
        parameters: [7, '[masked]'],
        rows: 1,
        location: { line: lineOf('awaited') },
      },
      { parameters: [{ id: 8, token: '[masked]' }], rows: 3 },
    ],
  })
  t.ok(Number(database?.queries[0]?.duration) >= 10)
})

t.test('a query with a callback has its caller, and the callback runs in its request', async t => {
  const pool = open(t)
  let isSame = false
  const { database } = await profileOf(t, async () => {
    const recorder = currentRecorder()
    await new Promise<void>(resolve => {
      const called = (_error: unknown, rows: unknown) => {
        isSame = recorder === currentRecorder()
        t.strictSame(rows, [{ one: '1' }])
        resolve()
      }
      pool.query('select one from museums', called) // called back
    })
  })
  t.ok(isSame)
  t.match(database, { count: 1, queries: [{ rows: 1, location: { line: lineOf('called back') } }] })
})

t.test('a query that nobody awaits has its caller, and its values are in no statement', async t => {
  const pool = openPromised(t)
  const { database } = await profileOf(t, () => {
    for (let id = 1; id <= 5; id++) void pool.query('select one from museums where id = ?', [id]) // in a loop
  })
  t.match(database?.repetitions, [{ kind: 'loop', count: 5, locations: [{ line: lineOf('in a loop') }] }])
})

t.test('the wait for a connection is separate from the duration of a query', async t => {
  const pool = openPromised(t, { connectionLimit: 1 })
  const { database, duration } = await profileOf(t, async () => {
    await Promise.all([pool.query('select sleep 30'), pool.query('select sleep 31')])
    const connection = await pool.getConnection()
    await connection.beginTransaction()
    await connection.query('select 1')
    await connection.commit()
    connection.release()
  })
  const [, second, ...others] = database?.queries ?? []
  t.ok(Number(second?.waited) >= 15, `waited ${second?.waited} ms`)
  t.ok(Number(second?.waited) + Number(second?.duration) <= duration, 'no time is in both')
  t.strictSame(
    others.map(({ transaction }) => transaction),
    [1, 1, 1],
  )
})

t.test('the application gets the error of the driver itself', async t => {
  const pool = openPromised(t)
  let thrown: unknown
  const { database } = await profileOf(t, async () => {
    thrown = await pool.query('fail').catch((error: unknown) => error) // failed
  })
  t.match(thrown, { errno: 1064, stack: /mysql2\.test/ })
  t.match(database, {
    count: 1,
    failed: 1,
    queries: [{ error: /cannot fail/, rows: null, location: { line: lineOf('failed') } }],
  })
})

t.test('a stream is a query until it ends, and is passed on as it is', async t => {
  const pool = open(t)
  const { database } = await profileOf(t, async () => {
    const rows: unknown[] = []
    for await (const row of pool.query('select one from museums').stream()) rows.push(row) // streamed
    t.strictSame(rows, [{ one: '1' }])
  })
  t.match(database, { count: 1, queries: [{ error: null, location: { line: lineOf('streamed') } }] })
  t.ok(database?.queries[0]?.duration !== null)
})
