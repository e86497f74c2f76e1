import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { embeddedConfig, openEmbedded } from '../../../src/database/embedded.ts'
import { QueryServer } from '../../../src/database/query-server.ts'
import { ServiceUnavailableHttpError } from '../../../src/errors/http-errors.ts'
import { StartError } from '../../../src/errors/start-error.ts'
import { stopClock } from '../../support/clock.ts'
import { makeFolder } from '../../support/folder.ts'
import { heardOf } from '../../support/site.ts'
import { makeEmbeddedFolder } from '../../support/test-database.ts'

const dataDir = makeEmbeddedFolder(t)
const server = await openDatabase({ databaseUrl: undefined, dataDir })
t.teardown(() => server.close())
const path = join(dataDir, 'lock')

/** Opens the database as a command does. */
async function openCommand(folder = dataDir) {
  return await openDatabase({ databaseUrl: undefined, dataDir: folder, patient: true })
}

async function names(): Promise<string[]> {
  const rows = await server.db.selectFrom('platforms').select('name').execute()
  return rows.map(({ name }) => name)
}

/** A command's connection, which a test can break. */
async function converse(socketPath = path) {
  class LockSocket extends Socket {
    override connect(): this {
      return super.connect(socketPath)
    }
  }
  const socket = new LockSocket()
  const client = new pg.Client({ ...embeddedConfig, stream: () => socket })
  client.on('error', () => {})
  await client.connect()
  return { socket, client, end: once(socket, 'close') }
}

t.test('a hundred commands at once all have their turn', async t => {
  const many = Array.from({ length: 100 }, (_, index) => `platform ${index}`)
  await Promise.all(
    many.map(async name => {
      const command = await openCommand()
      await command.db.insertInto('platforms').values({ name }).execute()
      await command.close()
    }),
  )
  t.strictSame((await names()).filter(name => many.includes(name)).length, 100)
})

t.test('values have the same types as without a server', async t => {
  const command = await openCommand()
  const query = sql`select 1 as small, 2::bigint as large, true as yes, null::text as missing, 'té' as text,
    ${['a', 'b']}::text[] as list, '2026-01-02T03:04:05Z'::timestamptz as time, '{"a":[1]}'::json as json`
  t.strictSame((await query.execute(command.db)).rows, (await query.execute(server.db)).rows)
  t.match(await command.db.updateTable('languages').set({ name: 'x' }).where('code', '=', 'xx').execute(), [
    { numUpdatedRows: 0n },
  ])
  await command.close()
})

t.test('a prepared query works as without a server', async t => {
  const command = await openCommand()
  const connection = await command.pool.connect()
  t.strictSame((await connection.query({ name: 'one', text: 'select $1::int as one', values: [1] })).rows, [{ one: 1 }])
  connection.release()
  await command.close()
})

t.test('errors have the same properties as without a server', async t => {
  const command = await openCommand()
  const add = (db: typeof command.db) => db.insertInto('languages').values({ code: 'en', name: 'x' }).execute()
  const [theirs, ours] = await Promise.all([command.db, server.db].map(async db => await add(db).catch(error => error)))
  t.ok(theirs instanceof pg.DatabaseError)
  const { message, detail } = ours
  t.match(theirs, { code: '23505', constraint: 'languages_code_key', message, detail })
  await command.close()
})

t.test('a command that is interrupted within a transaction changes nothing', async t => {
  const { socket, client } = await converse()
  await client.query('begin')
  await client.query("insert into platforms (name) values ('half')")
  socket.destroy()
  t.notOk((await names()).includes('half'))
})

t.test('a command that is interrupted within a query is rolled back after it, and the server goes on', async t => {
  const { socket, client } = await converse()
  await client.query('begin')
  const lost = client.query("insert into platforms (name) select 'many ' || n from generate_series(1, 20000) as n")
  lost.catch(() => {})
  setImmediate(() => socket.destroy())
  t.notOk((await names()).includes('many 1'))
})

t.test('a query larger than any chunk of a socket arrives', async t => {
  const command = await openCommand()
  const { rows } = await sql<{ length: number }>`select length(${'x'.repeat(2 ** 22)}::text)`.execute(command.db)
  t.strictSame(rows, [{ length: 2 ** 22 }])
  await command.close()
})

t.test('nothing of a session stays with the server, which goes on hearing of changes', async t => {
  const remains = async () => {
    const { rows } = await sql`
      select current_setting('search_path') as path, current_user as user, to_regclass('pg_temp.left_table') as table,
        array(select pg_listening_channels()) as channels, count(*) filter (where from_sql)::int as statements
      from pg_prepared_statements`.execute(server.db)
    return rows
  }
  const before = await remains()
  const { client } = await converse()
  for (const statement of [
    'create temp table left_table ()',
    'prepare left_statement as select 1',
    'listen left_channel',
    'set default_transaction_read_only to on',
    'set search_path to nowhere',
    'set role pg_read_all_data',
  ]) {
    await client.query(statement)
  }
  await client.end()
  t.strictSame(await remains(), before)
  await heardOf(server, async () => {
    await server.db.insertInto('platforms').values({ name: 'afterwards' }).execute()
  })
})

t.test('what a command changed is known to the server when the command has ended', async t => {
  const command = await openCommand()
  await command.db.updateTable('languages').set({ name: 'Anglais' }).where('code', '=', 'en').execute()
  let hasHeard = false
  server.changes.once('listening', () => (hasHeard = true))
  await command.close()
  t.ok(hasHeard)
})

t.test('a command that is interrupted while it waits for its turn changes nothing', async t => {
  const first = await converse()
  await first.client.query('begin')
  const late = connect(path)
  late.write('\0\0\0\u0008\u0004\u00d2\u0016\u002f')
  late.destroy()
  const third = converse()
  first.socket.destroy()
  const { client } = await third
  await client.query("insert into platforms (name) values ('in time')")
  await client.end()
  t.ok((await names()).includes('in time'))
})

/** A query server with another limit. */
async function serveWith(t: Test, longestPause: number) {
  const folder = makeEmbeddedFolder(t)
  const embedded = await openEmbedded(folder, async () => {})
  const queries = new QueryServer(embedded.pool, embedded.connect, longestPause)
  embedded.onWaiting(queries.serve)
  t.teardown(async () => {
    await queries.close()
    await embedded.pool.end()
    await embedded.close()
  })
  return { socketPath: join(folder, 'lock'), queries }
}

t.test('a command that pauses too long is cut off, and the next has its turn', async t => {
  const { socketPath } = await serveWith(t, 1000)
  const slow = await converse(socketPath)
  await slow.client.query('begin')
  const next = await converse(socketPath)
  t.match(await next.client.query('select 1 as one'), { rows: [{ one: 1 }] })
  await slow.end
})

t.test('a query may take longer than a pause', async t => {
  const { socketPath } = await serveWith(t, 1000)
  const { client } = await converse(socketPath)
  t.match(await client.query('select 1 as one from pg_sleep(1.5)'), { rows: [{ one: 1 }] })
  await client.end()
})

/** A message of PostgreSQL's protocol. The length may be wrong. */
function message(type: string, body = '', length = 4 + body.length): Buffer {
  const head = Buffer.from(`${type}....`)
  head.writeUInt32BE(length, type.length)
  return Buffer.concat([head, Buffer.from(body, 'latin1')])
}

const startup = message('', '\0\x03\0\0user\0postgres\0\0')

/** Connects and sends these bytes. Reads nothing yet. */
function send(socketPath: string, ...bytes: Buffer[]): Socket {
  const socket = connect(socketPath)
  // Being cut off while sending is an error.
  socket.on('error', () => {}).write(Buffer.concat(bytes))
  return socket
}

t.test('clients that keep the database are cut off in turn, and leave nothing behind', async t => {
  const { socketPath } = await serveWith(t, 1000)
  const clients = [
    send(socketPath, Buffer.from([0])),
    send(socketPath, startup),
    send(socketPath, startup, message('Q', 'begin; create table kept ()\0'), message('P', 'kept\0select 1\0\0\0')),
    send(socketPath, startup, message('P', '\0no SQL\0\0\0'), message('Q', 'PostgreSQL ignores this\0')),
    send(socketPath, startup, message('Q', 'copy pg_proc from stdin\0'), message('d', 'data')),
    send(socketPath, startup, message('H'), message('X')),
    send(socketPath, startup, message('Q', "select repeat('x', 2000) from generate_series(1, 10000)\0")),
  ]
  const trickling = send(socketPath, startup, message('Q', 'select 1\0', 1_000_000))
  const drops = setInterval(() => trickling.write(' '), 100)
  t.teardown(() => clearInterval(drops))
  const { client } = await converse(socketPath)
  const kept = "select to_regclass('kept') as table, count(*) filter (where from_sql)::int from pg_prepared_statements"
  t.match(await client.query(kept), { rows: [{ table: null, count: 0 }] })
  await client.end()
  // Whether they see an error depends on what they were doing.
  for (const socket of [...clients, trickling]) await text(socket).catch(() => {})
})

t.test('a COPY FROM STDIN fails, and the next query of the command is answered', async t => {
  const { client } = await converse()
  await t.rejects(client.query('copy platforms (name) from stdin'), /this connection takes no data/)
  await t.rejects(
    client.query({ text: 'copy platforms (name) from stdin', values: [] }),
    /this connection takes no data/,
  )
  t.match(await client.query('select 1 as one'), { rows: [{ one: 1 }] })
  await client.end()
})

for (const [what, reason, ...bytes] of [
  ['a first message shorter than its length', 'invalid length', message('', '', 3)],
  ['a first message without a version', 'invalid length', message('')],
  ['a first message of 10 kB', 'invalid length', message('', '', 10_001)],
  ['an HTTP request', 'invalid length', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['another version of the protocol', 'only version 3', message('', '\0\x02\0\0user\0postgres\0\0')],
  ['a request for encryption', 'only version 3', message('', '\x04\xd2\x16\x2f')],
  ['a request for encryption after the start', 'unknown type', startup, message('', '\x04\xd2\x16\x2f')],
  ['a second start', 'unknown type', startup, startup],
  ['a type that only servers send', 'unknown type', startup, message('Z', 'I')],
  ['a password', 'unknown type', startup, message('p', 'secret\0')],
  ['a length of 0', 'invalid length', startup, message('Q', 'select 1\0', 0)],
  ['a length of 3', 'invalid length', startup, message('Q', 'select 1\0', 3)],
  ['a length of 2 GiB', 'invalid length', startup, message('Q', 'select 1\0', 2 ** 31 - 1)],
  ['the greatest length', 'invalid length', startup, message('P', '\0select 1\0\0\0', 2 ** 32 - 1)],
  ['a Sync of 10 kB', 'invalid length', startup, message('S', 'x'.repeat(10_000))],
] as const) {
  t.test(`${what} is refused, and others are answered`, async t => {
    const refused = send(path, ...bytes)
    t.match(await text(refused), new RegExp(`FATAL\0C08P01\0M${reason}`))
    t.match(await sql`select 1 as one`.execute(server.db), { rows: [{ one: 1 }] })
  })
}

t.test('a first message that is malformed but has the right version is as good as any', async t => {
  const socket = send(path, message('', '\0\x03\0\0no pairs'), message('Q', 'select 12345\0'))
  socket.end()
  t.match(await text(socket), '12345')
})

t.test('no connection is served after the end', async t => {
  const { socketPath, queries } = await serveWith(t, 30_000)
  const first = await converse(socketPath)
  await queries.close()
  await first.end
  t.equal(await text(connect(socketPath)), '')
})

t.test('a command whose server ends says so', async t => {
  const folder = makeEmbeddedFolder(t)
  const ending = await openDatabase({ databaseUrl: undefined, dataDir: folder })
  const command = await openCommand(folder)
  const failed = command.db.transaction().execute(async transaction => {
    await sql`select 1`.execute(transaction)
    await ending.close()
    await sql`select 1`.execute(transaction)
  })
  await t.rejects(failed, ServiceUnavailableHttpError)
  await t.rejects(sql`select 1`.execute(command.db), ServiceUnavailableHttpError)
  await command.close()
})

t.test('a command waits until another command has ended', async t => {
  const folder = makeEmbeddedFolder(t)
  const first = await openCommand(folder)
  const order: string[] = []
  const waiting = openCommand(folder).then(async second => {
    order.push('second')
    await second.close()
  })
  await sql`select 1`.execute(first.db)
  order.push('first')
  await first.close()
  await waiting
  t.strictSame(order, ['first', 'second'])
})

t.test('a command that another one kept waiting runs once that one has ended', async t => {
  const letPass = stopClock(t)
  const folder = makeEmbeddedFolder(t)
  const other = createServer(socket => {
    // Longer than a process takes that closes connections at once.
    letPass(100)
    other.close()
    socket.destroy()
  }).listen(join(folder, 'lock'))
  await once(other, 'listening')
  const command = await openCommand(folder)
  t.match(await sql`select 1 as one`.execute(command.db), { rows: [{ one: 1 }] })
  await command.close()
})

t.test('beside a process that takes no commands, the message says what to do', async t => {
  stopClock(t)
  const folder = makeFolder(t)
  const other = createServer(socket => socket.destroy()).listen(join(folder, 'lock'))
  await once(other, 'listening')
  t.teardown(() => other.close())
  const advice = 'It takes no commands: stop it, or wait until it has ended.'
  const reason = new StartError(`DATA_DIR ${folder} cannot be locked: another process has it open. ${advice}`)
  await t.rejects(openCommand(folder), reason)
})
