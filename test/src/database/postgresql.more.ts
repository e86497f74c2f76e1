import { once } from 'node:events'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../../src/database/database.ts'
import type { Limits } from '../../../src/database/guarded-pool.ts'
import { migrations } from '../../../src/database/migrations.ts'
import { ServiceUnavailableHttpError } from '../../../src/errors/http-errors.ts'
import { reasonOf } from '../../../src/errors/start-error.ts'
import { createDatabase, serverUrl } from '../../support/test-database.ts'
import { serveWire } from '../../support/wire-server.ts'

const dataDir = 'unused'

async function open(t: Test, databaseUrl: string, limits: Partial<Limits> = {}): Promise<Database> {
  const database = await openDatabase({ databaseUrl, dataDir, limits })
  t.teardown(() => database.close())
  return database
}

/** The names of these events, as they happen. */
function eventsOf({ changes }: Database): string[] {
  const events: string[] = []
  changes.on('deaf', () => events.push('deaf')).on('listening', () => events.push('listening'))
  return events
}

const server = await serveWire(t)

t.test('When connections break', async t => {
  t.test('a lost listener emits "deaf" at each failed attempt, then "listening"', async t => {
    const database = await open(t, server.url)
    const events = eventsOf(database)
    const listening = once(database.changes, 'listening')
    server.cut(2)
    await listening
    t.strictSame(events, ['deaf', 'deaf', 'deaf', 'listening'])
    t.match(await sql`select 1 as one`.execute(database.db), { rows: [{ one: 1 }] })
  })

  t.test('a database that is closed while its listener is lost does not reconnect', async t => {
    const database = await openDatabase({ databaseUrl: server.url, dataDir })
    const events = eventsOf(database)
    const deaf = once(database.changes, 'deaf')
    server.cut(0)
    await deaf
    await database.close()
    t.strictSame(events, ['deaf'])
  })
})

t.test('An unreachable database', async t => {
  const never = 3_600_000
  const one = sql<{ one: number }>`select 1 as one`

  t.test('is detected even if it only falls silent, and found once it answers', async t => {
    const { db, changes, availability } = await open(t, server.url, { heartbeat: 10, listener: 1000 })
    t.match([availability.reachable, changes.areArriving], [true, true])
    // Waits for two heartbeats: the first has been answered by then.
    for (let time = 0; time < 2; time++) await server.asked('select 1\0')
    const deaf = once(changes, 'deaf')
    const lost = once(availability, 'lost')
    server.freeze()
    await deaf
    t.match([availability.reachable, changes.areArriving], [true, false])
    const [cause] = await lost
    t.match(cause, { message: 'The database does not answer.' })
    t.match([availability.reachable, changes.areArriving], [false, false])
    const found = once(availability, 'found')
    server.thaw()
    await found
    t.match([availability.reachable, changes.areArriving], [true, true])
    t.match(await one.execute(db), { rows: [{ one: 1 }] })
  })

  t.test('rejects the queries that were already waiting', async t => {
    const { db, availability } = await open(t, server.url, { heartbeat: 10, listener: 1000, answer: never })
    await one.execute(db)
    server.freeze()
    const lost = once(availability, 'lost')
    await t.rejects(one.execute(db), ServiceUnavailableHttpError)
    t.equal(availability.reachable, false)
    await lost.then(() => server.thaw())
  })

  t.test('is queried on new connections once it is back, since the old ones may be dead', async t => {
    const { db, availability } = await open(t, server.url)
    await Promise.all([one.execute(db), one.execute(db)])
    availability.lose(new Error('silent'))
    availability.find()
    t.match(await one.execute(db), { rows: [{ one: 1 }] })
  })

  t.test('keeps no query past its time limit, and never gives its late answer to the next query', async t => {
    const { db } = await open(t, server.url, { heartbeat: never, answer: 1000 })
    await one.execute(db)
    server.freeze()
    await t.rejects(sql`select 1 as late`.execute(db), {
      name: 'ServiceUnavailableHttpError',
      cause: { message: 'Query read timeout' },
    })
    server.thaw()
    t.match(await one.execute(db), { rows: [{ one: 1 }] })
  })

  t.test('limits how long and how many queries wait for a connection', async t => {
    const { db, close } = await openDatabase({
      databaseUrl: server.url,
      dataDir,
      limits: { heartbeat: never, answer: 1000, connection: 100, waiting: 2 },
    })
    server.freeze()
    const outcomes = await Promise.allSettled(Array.from({ length: 13 }, () => one.execute(db)))
    const reasons = outcomes.map(outcome => outcome.status === 'rejected' && reasonOf(outcome.reason.cause))
    t.equal(reasons.filter(reason => reason === '2 queries are already waiting for a connection.').length, 1)
    t.equal(reasons.filter(reason => /time/.test(String(reason))).length, 12)
    server.thaw()
    await close()
  })

  t.test('is not assumed just because LISTEN fails', async t => {
    const { db, changes, availability } = await open(t, server.url, { heartbeat: never })
    // All connections to this server share one session, and so one transaction.
    await sql`begin`.execute(db)
    await t.rejects(sql`select 1 / 0`.execute(db))
    const deaf = once(changes, 'deaf')
    server.cut(0)
    await deaf
    await once(changes, 'deaf')
    t.match([availability.reachable, changes.areArriving], [true, false])
    const listening = once(changes, 'listening')
    await sql`rollback`.execute(db)
    await listening
    t.match([availability.reachable, changes.areArriving], [true, true])
  })

  t.test('is lost for a command, too, which has no time limits', async t => {
    const { db, changes, close } = await openDatabase({
      databaseUrl: server.url,
      dataDir,
      patient: true,
      limits: { answer: 1 },
    })
    t.equal(changes.areArriving, false)
    t.match(await sql`select pg_sleep(0.02), 1 as one`.execute(db), { rows: [{ one: 1 }] })
    server.cut(0)
    await t.rejects(one.execute(db), { statusCode: 503, cause: { message: /^Connection terminated/ } })
    await close()
  })

  t.test('can be closed while it is silent', async t => {
    const { changes, close } = await openDatabase({ databaseUrl: server.url, dataDir, limits: { listener: 1000 } })
    changes.on('deaf', () => t.fail('it was lost before'))
    server.freeze()
    await close()
    server.thaw()
  })
})

const reported = /^The database of DATABASE_URL cannot be used: (?!.*hunter2)[^\n]+\.$/
for (const [what, databaseUrl, message] of [
  ['A server that hangs up', server.url, reported],
  ['A password that cannot be decoded', 'postgres://portico:hunter2%zz@127.0.0.1:1/portico', reported],
  [
    'An unknown host',
    'postgres://portico:hunter2@nowhere.invalid/portico',
    /^The database of DATABASE_URL cannot be used: getaddrinfo [A-Z_]+ nowhere\.invalid\.$/,
  ],
] as const) {
  t.test(`${what} is reported in one line without the password`, async t => {
    server.cut(1)
    await t.rejects(openDatabase({ databaseUrl, dataDir }), { name: 'StartError', message })
    server.cut(0)
  })
}

t.test('On a PostgreSQL server', { skip: serverUrl === undefined && 'TEST_DATABASE_URL names none' }, async t => {
  if (serverUrl === undefined) return
  const url = serverUrl

  for (const [what, change, message] of [
    [
      'a missing database',
      { pathname: '/portico_test_absent' },
      /^The database of DATABASE_URL cannot be used: database "portico_test_absent" does not exist\.$/,
    ],
    ['an unknown user', { username: 'portico_test_nobody', password: 'hunter2' }, /"portico_test_nobody"/],
  ] as const) {
    t.test(`${what} is reported in one line without the password`, async t => {
      const { href: databaseUrl } = Object.assign(new URL(url), change)
      await t.rejects(openDatabase({ databaseUrl, dataDir }), { name: 'StartError', message: reported })
      await t.rejects(openDatabase({ databaseUrl, dataDir }), { message })
    })
  }

  t.test('nothing is seeded', async t => {
    const { db } = await open(t, await createDatabase(t, url))
    t.strictSame(await db.selectFrom('licenses').selectAll().execute(), [])
  })

  t.test('processes that start together migrate once', async t => {
    const databaseUrl = await createDatabase(t, url)
    const databases = await Promise.all([open(t, databaseUrl), open(t, databaseUrl), open(t, databaseUrl)])
    for (const { db } of databases) {
      const { rows } = await sql<{ name: string }>`select name from portico_migrations order by name`.execute(db)
      t.strictSame(
        rows.map(({ name }) => name),
        Object.keys(migrations),
      )
    }
  })

  t.test('a listener retries until the database accepts it, and leaves no connection behind', async t => {
    const databaseUrl = await createDatabase(t, url)
    const database = await open(t, databaseUrl)
    const { pathname } = new URL(databaseUrl)
    const name = pathname.slice(1)
    const admin = new pg.Client(url)
    await admin.connect()
    const deafs: string[] = []
    const twice = new Promise<void>(resolve => {
      database.changes.on('deaf', () => {
        if (deafs.push('deaf') === 3) resolve()
      })
    })
    await admin.query(`alter database ${name} with allow_connections false`)
    const { rowCount } = await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    )
    t.ok(rowCount)
    await twice
    const listening = once(database.changes, 'listening')
    await admin.query(`alter database ${name} with allow_connections true`)
    await listening
    const { rows } = await admin.query('select application_name as name from pg_stat_activity where datname = $1', [
      name,
    ])
    t.strictSame(rows, [{ name: 'portico listener' }])
    await admin.end()
  })

  t.test('a query whose connection is killed is rejected, and the next one is answered', async t => {
    const { db } = await open(t, await createDatabase(t, url))
    const killed = sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)
    await t.rejects(killed, { name: 'ServiceUnavailableHttpError', cause: { code: '57P01' } })
    t.match(await sql`select 1 as one`.execute(db), { rows: [{ one: 1 }] })
  })

  t.test('a transaction whose connection is killed is rejected and leaves nothing behind', async t => {
    const { db } = await open(t, await createDatabase(t, url))
    const transaction = db.transaction().execute(async transaction => {
      await transaction.insertInto('platforms').values({ name: 'kiosk' }).execute()
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(transaction)
    })
    await t.rejects(transaction, ServiceUnavailableHttpError)
    t.strictSame(await db.selectFrom('platforms').selectAll().execute(), [])
  })

  t.test('a query that the server cancels is rejected', async t => {
    const { db } = await open(t, await createDatabase(t, url), { statement: 50 })
    const canceled = { name: 'ServiceUnavailableHttpError', cause: { code: '57014' } }
    await t.rejects(sql`select pg_sleep(60)`.execute(db), canceled)
  })

  t.test('a database that turns read-only answers reads and rejects writes', async t => {
    const { db } = await open(t, await createDatabase(t, url))
    await sql`set default_transaction_read_only = on`.execute(db)
    t.strictSame(await db.selectFrom('platforms').selectAll().execute(), [])
    const readOnly = { name: 'ServiceUnavailableHttpError', cause: { code: '25006' } }
    await t.rejects(db.insertInto('platforms').values({ name: 'kiosk' }).execute(), readOnly)
  })
})
