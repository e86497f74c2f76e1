import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { Changes } from '../../../src/database/changes.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { openEmbedded } from '../../../src/database/embedded.ts'
import { makeFolder } from '../../support/folder.ts'

// The tests share a folder and run in order: making an embedded database takes seconds.
const dataDir = join(makeFolder(t), 'not', 'there', 'yet')
const open = () => openDatabase({ databaseUrl: undefined, dataDir })

t.test('The first start makes the folder, the tables and the demonstration records', async t => {
  const database = await open()
  const { db } = database
  const licenses = await db
    .selectFrom('licenses')
    .innerJoin('license_types', 'license_types.id', 'type_id')
    .select(['domain', 'protected', 'type'])
    .orderBy('licenses.id')
    .execute()
  t.strictSame(licenses, [
    { domain: 'localhost', protected: false, type: 'demonstration' },
    { domain: '127.0.0.1', protected: false, type: 'demonstration' },
    { domain: 'protected.localhost', protected: true, type: 'demonstration' },
  ])
  for (const table of ['museums', 'license_languages', 'license_platforms', 'groups'] as const) {
    const [count] = await db
      .selectFrom(table)
      .select(db.fn.count<string>('license_id').distinct().as('licenses'))
      .execute()
    t.strictSame(count, { licenses: '3' }, `each license has ${table}`)
  }
  await database.close()
})

t.test('Deleted demonstration records stay deleted after a restart', async t => {
  const first = await open()
  await first.db.deleteFrom('licenses').execute()
  await first.db.insertInto('platforms').values({ name: 'kiosk' }).execute()
  await first.close()

  const second = await open()
  t.strictSame(await second.db.selectFrom('licenses').selectAll().execute(), [])
  t.match(await second.db.selectFrom('platforms').select('name').where('name', '=', 'kiosk').execute(), [
    { name: 'kiosk' },
  ])
  await second.close()
})

t.test('The queries that wait for a transaction are limited in time and number', async t => {
  const database = await openDatabase({ databaseUrl: undefined, dataDir, limits: { connection: 100, waiting: 1 } })
  await database.db.transaction().execute(async () => {
    const late = sql`select 1`.execute(database.db)
    await t.rejects(sql`select 1`.execute(database.db), {
      statusCode: 503,
      cause: { message: '1 queries are already waiting for a connection.' },
    })
    await t.rejects(late, { statusCode: 503, cause: { message: 'timeout exceeded when trying to connect' } })
  })
  t.match(await sql`select 1 as one`.execute(database.db), { rows: [{ one: 1 }] })
  await database.close()
})

t.test('A command waits for a transaction without a limit', async t => {
  const limits = { connection: 1, waiting: 0 }
  const database = await openDatabase({ databaseUrl: undefined, dataDir, patient: true, limits })
  const waiting = await database.db.transaction().execute(async transaction => {
    const waiting = sql`select 1 as one`.execute(database.db)
    await sql`select pg_sleep(0.05)`.execute(transaction)
    return { waiting }
  })
  t.match(await waiting.waiting, { rows: [{ one: 1 }] })
  await database.close()
})

t.test('A DATA_DIR in a folder in which nothing can be made is refused', async t => {
  for (const dataDir of ['/proc/portico', '/proc/portico/data']) {
    await t.rejects(openDatabase({ databaseUrl: undefined, dataDir }), {
      name: 'StartError',
      message: /^DATA_DIR \/proc\/portico.* cannot be used: ENOENT: .*\.$/,
    })
  }
})

t.test('A DATA_DIR that is a file is refused', async t => {
  const file = join(makeFolder(t), 'file')
  writeFileSync(file, '')
  await t.rejects(openDatabase({ databaseUrl: undefined, dataDir: file }), {
    name: 'StartError',
    message: /^DATA_DIR .*file cannot be used: .*EEXIST.*\.$/,
  })
})

t.test('The pool of an embedded database', async t => {
  const changes = new Changes()
  const embedded = await openEmbedded(dataDir, client => changes.listenOn(client))
  const { pool } = embedded
  pool.on('error', () => {})

  t.test("rejects an invalid query with PostgreSQL's error, and answers a valid one after it", async t => {
    const missing = { code: '42P01', message: 'relation "nowhere" does not exist' }
    await t.rejects(pool.query('select nothing from nowhere'), missing)
    await t.rejects(pool.query('selec'), { code: '42601' })
    await t.rejects(pool.query('select 1 / $1::int', [0]), { code: '22012' })
    t.match(await pool.query('select 1 as one'), { rows: [{ one: 1 }] })
  })

  t.test('keeps other queries out of a transaction', async t => {
    const client = await pool.connect()
    await client.query('begin')
    await client.query("insert into platforms (name) values ('uncommitted')")
    const outside = pool.query("select name from platforms where name = 'uncommitted'")
    await client.query('rollback')
    client.release()
    t.match(await outside, { rows: [] })
  })

  t.test('commits a transaction', async t => {
    const client = await pool.connect()
    await client.query('begin')
    await client.query("insert into platforms (name) values ('committed')")
    await client.query('commit')
    client.release()
    t.match(await pool.query("delete from platforms where name = 'committed'"), { rowCount: 1 })
  })

  t.test('answers after a failed transaction was rolled back', async t => {
    const client = await pool.connect()
    await client.query('begin')
    await t.rejects(client.query('select 1 / 0'))
    await t.rejects(client.query('select 1'), { code: '25P02' })
    await client.query('rollback')
    client.release()
    t.match(await pool.query('select 1 as one'), { rows: [{ one: 1 }] })
  })

  t.test('carries nothing over from a lost connection to the next', async t => {
    const client = await pool.connect()
    await client.query('begin')
    await client.query("insert into platforms (name) values ('lost')")
    await client.query("set application_name to 'lost'")
    await client.query({ name: 'lost', text: 'select 1' })
    client.release(true)

    t.strictSame((await pool.query("select from platforms where name = 'lost'")).rows, [])
    t.strictSame((await pool.query("select current_setting('application_name') as name")).rows, [{ name: '' }])
    t.match(await pool.query({ name: 'lost', text: 'select 2 as two' }), { rows: [{ two: 2 }] })
  })

  t.test('hears changes before and after a connection is lost, and says when it listens again', async t => {
    const heard: string[] = []
    changes.on('change', table => heard.push(table)).on('listening', () => heard.push('listening'))
    await pool.query("select pg_notify('portico_changes', 'before')")
    const client = await pool.connect()
    client.release(true)
    await pool.query("select pg_notify('portico_changes', 'after')")
    t.strictSame(heard, ['before', 'listening', 'after'])
  })

  t.test('ends and releases the folder', async t => {
    await pool.end()
    await embedded.close()
    t.strictSame(readdirSync(dataDir), ['pglite'])
  })
})

t.test('The pool can be ended after the database was closed', async t => {
  const { pool, close } = await openEmbedded(dataDir, async () => {})
  await pool.query('select 1')
  const closed = close()
  await pool.end()
  await t.resolves(closed)
})

t.test('A damaged database is reported in one line, and its folder unlocked', async t => {
  rmSync(join(dataDir, 'pglite', 'global', 'pg_control'))
  await t.rejects(open(), { name: 'StartError', message: /^The embedded database in .* cannot be opened: [^\n]+\.$/ })
  t.notOk(existsSync(join(dataDir, 'lock')))
})
