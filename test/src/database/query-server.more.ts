import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { openEmbedded } from '../../../src/database/embedded.ts'
import { messagesFrom, QueryServer, type QueryServerOptions } from '../../../src/database/query-server.ts'
import { StartError } from '../../../src/errors/start-error.ts'
import { stopClock } from '../../support/clock.ts'
import { makeFolder } from '../../support/folder.ts'
import { heardOf } from '../../support/heard.ts'
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

function insert(name: string): string {
  return `${JSON.stringify({ text: 'insert into platforms (name) values ($1)', values: [name] })}\n`
}

/** A connection that sends what it is told. */
async function converse(socketPath = path) {
  const socket = connect(socketPath)
  const messages = messagesFrom<unknown>(socket)
  await messages.next()
  return {
    socket,
    send: (text: string) => socket.write(text),
    async ask(text: string, values: unknown[] = []) {
      socket.write(`${JSON.stringify({ text, values })}\n`)
      return (await messages.next()).value
    },
    next: async () => (await messages.next()).value,
  }
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
  const { socket, ask } = await converse()
  await ask('begin')
  await ask('insert into platforms (name) values ($1)', ['half'])
  socket.destroy()
  t.notOk((await names()).includes('half'))
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
  const { socket, ask } = await converse()
  for (const statement of [
    'create temp table left_table ()',
    'prepare left_statement as select 1',
    'listen left_channel',
    'set default_transaction_read_only to on',
    'set search_path to nowhere',
    'set role pg_read_all_data',
  ]) {
    t.match(await ask(statement), { rows: [] })
  }
  socket.destroy()
  t.strictSame(await remains(), before)
  await heardOf(server, async () => {
    await server.db.insertInto('platforms').values({ name: 'afterwards' }).execute()
  })
})

t.test('a command that is interrupted while it waits for its turn changes nothing', async t => {
  const first = await converse()
  await first.ask('begin')
  const second = await converse()
  second.send(insert('late'))
  second.socket.destroy()
  const third = await converse()
  third.send(insert('in time'))
  first.socket.destroy()
  await third.next()
  third.socket.destroy()
  const all = await names()
  t.notOk(all.includes('late'))
  t.ok(all.includes('in time'))
})

for (const hostile of [
  'GET / HTTP/1.1\r\n\r\n',
  '\0\u001b[2J\n',
  '\n',
  'null\n',
  '7\n',
  '[]\n',
  '{}\n',
  '{"text":1,"values":[]}\n',
  '{"text":"select 1"}\n',
  '{"text":"select 1","values":{"length":1}}\n',
  `${'['.repeat(100_000)}\n`,
]) {
  t.test(`${JSON.stringify(hostile.slice(0, 50))} is refused at the start and after a query`, async t => {
    const first = connect(path)
    first.write(hostile)
    t.equal(await text(first), '{"portico":"ready"}\n')
    const { ask, send, next } = await converse()
    t.match(await ask('select 1 as one'), { rows: [['1']] })
    send(hostile)
    t.equal(await next(), undefined)
  })
}

for (const [text, message] of [
  ['select 1; select 2', /./],
  ['copy platforms from stdin', /COPY is not possible/],
  ['/* /* */ */ COPY platforms to stdout', /COPY is not possible/],
  ['selec', /syntax error/],
  ['select $1', /./],
] as const) {
  t.test(`"${text}" is answered with an error, and the server goes on`, async t => {
    const { ask, socket } = await converse()
    t.match(await ask(text), { error: { message } })
    t.match(await ask('select 1 as one'), { rows: [['1']] })
    socket.destroy()
    t.ok(Array.isArray(await names()))
  })
}

t.test('a message that is too long ends the conversation', async t => {
  const tooLong = '1\n'.repeat(3) + '"'.padEnd(11)
  const listening = createServer(socket => socket.write(tooLong)).listen(join(makeFolder(t), 's'))
  await once(listening, 'listening')
  t.teardown(() => listening.close())
  const read: unknown[] = []
  for await (const message of messagesFrom(connect(String(listening.address())), 10)) read.push(message)
  t.strictSame(read, [1, 1, 1])
})

/** A query server with other limits. */
async function serveWith(t: Test, options: QueryServerOptions) {
  const folder = makeEmbeddedFolder(t)
  const embedded = await openEmbedded(folder, async () => {})
  const queries = new QueryServer(embedded.pool, options)
  embedded.onWaiting(queries.serve)
  t.teardown(async () => {
    await queries.close()
    await embedded.pool.end()
    await embedded.close()
  })
  return { socketPath: join(folder, 'lock'), queries }
}

t.test('a command that pauses too long is cut off, and the next has its turn', async t => {
  const { socketPath } = await serveWith(t, { longestPause: 1000 })
  const slow = await converse(socketPath)
  await slow.ask('begin')
  const next = await converse(socketPath)
  t.match(await next.ask('select 1 as one'), { rows: [['1']] })
  t.equal(await slow.next(), undefined)
})

t.test('more connections than the limit are closed, and none is served after the end', async t => {
  const { socketPath, queries } = await serveWith(t, { mostConnections: 1 })
  const first = await converse(socketPath)
  t.equal(await text(connect(socketPath)), '')
  await queries.close()
  t.equal(await first.next(), undefined)
  t.equal(await text(connect(socketPath)), '')
})

t.test('a command whose server ends says so', async t => {
  const folder = makeEmbeddedFolder(t)
  const ending = await openDatabase({ databaseUrl: undefined, dataDir: folder })
  const command = await openCommand(folder)
  const lost = new StartError('The connection to the server is lost, and the command is not finished. Run it again.')
  const failed = command.db.transaction().execute(async transaction => {
    await sql`select 1`.execute(transaction)
    await ending.close()
    await sql`select 1`.execute(transaction)
  })
  await t.rejects(failed, lost)
  await t.rejects(sql`select 1`.execute(command.db), lost)
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
