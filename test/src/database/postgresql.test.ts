import { once } from 'node:events'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../../src/database/database.ts'
import { migrations } from '../../../src/database/migrations/index.ts'
import { addLicense } from '../../records.ts'
import { createDatabase, serverUrl } from '../../test-database.ts'
import { serveWire } from '../../wire-server.ts'

const dataDir = 'unused'

/** A URL that differs from that of the suite's server. */
function urlWith (change: (url: URL) => void): string {
  const url = new URL(serverUrl ?? 'postgres://postgres@127.0.0.1')
  change(url)
  return url.href
}

async function open (t: Test, databaseUrl: string): Promise<Database> {
  const database = await openDatabase({ databaseUrl, dataDir })
  t.teardown(() => database.close())
  return database
}

t.test('Over connections that break', async t => {
  const server = await serveWire(t)

  t.test('a server that hangs up is refused in one line', async t => {
    server.cut(1)
    await t.rejects(openDatabase({ databaseUrl: server.url, dataDir }), { name: 'StartError', message: /^The database of DATABASE_URL cannot be used: (?!.*hunter2)[^\n]+\.$/ })
  })

  t.test('a lost listener says that it is deaf each time it tries in vain, then that it listens', async t => {
    const { db, changes } = await open(t, server.url)
    const events: string[] = []
    changes.on('deaf', () => events.push('deaf')).on('listening', () => events.push('listening'))
    const listening = once(changes, 'listening')
    server.cut(2)
    await listening
    t.strictSame(events, ['deaf', 'deaf', 'deaf', 'listening'])
    t.match(await sql`select 1 as one`.execute(db), { rows: [{ one: 1 }] })
  })

  t.test('a database that is closed while its listener is lost does not come back', async t => {
    const { changes, close } = await openDatabase({ databaseUrl: server.url, dataDir })
    const events: string[] = []
    changes.on('deaf', () => events.push('deaf')).on('listening', () => events.push('listening'))
    const deaf = once(changes, 'deaf')
    server.cut(0)
    await deaf
    await close()
    t.strictSame(events, ['deaf'])
  })
})

t.test('A URL whose password cannot be decoded is refused in one line that does not hold it', async t => {
  await t.rejects(openDatabase({ databaseUrl: 'postgres://portico:hunter2%zz@127.0.0.1:1/portico', dataDir }), { name: 'StartError', message: /^The database of DATABASE_URL cannot be used: (?!.*hunter2)[^\n]+\.$/ })
})

t.test('A host that cannot be found is refused in one line', async t => {
  await t.rejects(openDatabase({ databaseUrl: 'postgres://portico:hunter2@nowhere.invalid/portico', dataDir }), { name: 'StartError', message: /^The database of DATABASE_URL cannot be used: getaddrinfo [A-Z_]+ nowhere\.invalid\.$/ })
})

t.test('On a PostgreSQL server', { skip: serverUrl === undefined && 'TEST_DATABASE_URL names none' }, async t => {
  if (serverUrl === undefined) return
  const url = serverUrl

  t.test('a database that is not there is refused in one line', async t => {
    const databaseUrl = urlWith(url => { url.pathname = '/portico_test_absent' })
    await t.rejects(openDatabase({ databaseUrl, dataDir }), { name: 'StartError', message: 'The database of DATABASE_URL cannot be used: database "portico_test_absent" does not exist.' })
  })

  t.test('a user who may not enter is refused in one line that does not hold the password', async t => {
    const databaseUrl = urlWith(url => {
      url.username = 'portico_test_nobody'
      url.password = 'hunter2'
    })
    await t.rejects(openDatabase({ databaseUrl, dataDir }), { name: 'StartError', message: /^The database of DATABASE_URL cannot be used: (?!.*hunter2)[^\n]*"portico_test_nobody"[^\n]*\.$/ })
  })

  t.test('nothing is seeded', async t => {
    const { db } = await open(t, await createDatabase(t, url))
    t.strictSame(await db.selectFrom('licenses').selectAll().execute(), [])
  })

  t.test('processes that start at once migrate once', async t => {
    const databaseUrl = await createDatabase(t, url)
    const databases = await Promise.all([open(t, databaseUrl), open(t, databaseUrl), open(t, databaseUrl)])
    for (const { db } of databases) {
      const { rows } = await sql<{ name: string }>`select name from portico_migrations order by name`.execute(db)
      t.strictSame(rows.map(({ name }) => name), Object.keys(migrations))
    }
  })

  t.test('a change by one process is heard by another', async t => {
    const databaseUrl = await createDatabase(t, url)
    const [one, other] = [await open(t, databaseUrl), await open(t, databaseUrl)]
    const heard = once(other.changes, 'change')
    await one.db.insertInto('platforms').values({ name: 'kiosk' }).execute()
    t.strictSame(await heard, ['platforms', null])
  })

  t.test('a lost listener says that it is deaf, then that it listens, and hears again', async t => {
    const database = await open(t, await createDatabase(t, url))
    const events: string[] = []
    database.changes.on('deaf', () => events.push('deaf')).on('listening', () => events.push('listening'))
    const listening = once(database.changes, 'listening')
    await terminateListener(database)
    await listening
    t.strictSame(events, ['deaf', 'listening'])
    const heard = once(database.changes, 'change')
    await addLicense(database, { domain: 'museum.test', type: null })
    t.strictSame(await heard, ['licenses', 'museum.test'])
  })

  t.test('a listener tries until the database lets it in, and leaves no connection behind', async t => {
    const databaseUrl = await createDatabase(t, url)
    const database = await open(t, databaseUrl)
    const { pathname } = new URL(databaseUrl)
    const name = pathname.slice(1)
    const admin = new pg.Client(url)
    await admin.connect()
    const deafs: string[] = []
    const twice = new Promise<void>(resolve => {
      database.changes.on('deaf', () => { if (deafs.push('deaf') === 3) resolve() })
    })
    await admin.query(`alter database ${name} with allow_connections false`)
    const { rowCount } = await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    t.ok(rowCount)
    await twice
    const listening = once(database.changes, 'listening')
    await admin.query(`alter database ${name} with allow_connections true`)
    await listening
    const { rows } = await admin.query('select query from pg_stat_activity where datname = $1', [name])
    t.strictSame(rows, [{ query: 'listen portico_changes' }])
    await admin.end()
  })

  t.test('a connection that is lost while nobody uses it is replaced by the next query', async t => {
    const databaseUrl = await createDatabase(t, url)
    const database = await open(t, databaseUrl)
    await sql`select 1`.execute(database.db)
    const admin = new pg.Client(url)
    await admin.connect()
    const relistening = once(database.changes, 'listening')
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [new URL(databaseUrl).pathname.slice(1)])
    await admin.end()
    await relistening
    t.match(await sql`select 1 as one`.execute(database.db), { rows: [{ one: 1 }] })
  })

  t.test('a database that is closed while its listener is lost does not come back', async t => {
    const databaseUrl = await createDatabase(t, url)
    const database = await openDatabase({ databaseUrl, dataDir })
    const deaf = once(database.changes, 'deaf')
    await terminateListener(database)
    await deaf
    let isListening = false
    database.changes.on('listening', () => { isListening = true })
    await database.close()
    const after = await open(t, databaseUrl)
    t.match(await sql`select count(*)::int as listeners from pg_stat_activity where datname = current_database() and query = 'listen portico_changes'`.execute(after.db), { rows: [{ listeners: 1 }] })
    t.notOk(isListening)
  })

  t.test('a failed query is followed by a good one', async t => {
    const { db } = await open(t, await createDatabase(t, url))
    await t.rejects(sql`select nothing from nowhere`.execute(db), { code: '42P01' })
    t.match(await sql`select 1 as one`.execute(db), { rows: [{ one: 1 }] })
  })
})

async function terminateListener ({ db }: Database): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'listen portico_changes'`.execute(db)
}
