import { once } from 'node:events'
import { promisify } from 'node:util'
import mssql from 'mssql'
import t from 'tap'
import { Connection, Request, TYPES } from 'tedious'
import { linesOf, profileOf } from './driver-app.ts'
import { serveMssql } from './mssql-server.ts'

const lineOf = linesOf(import.meta.filename)
const port = await serveMssql(t)
const server = '127.0.0.1'
const connection = new Connection({
  server,
  authentication: { type: 'default', options: { userName: 'tester', password: 'open sesame' } },
  options: { port, encrypt: false },
})
connection.connect()
await once(connection, 'connect')
const pool = await new mssql.ConnectionPool({ server, port, user: 'tester', options: { encrypt: false } }).connect()
t.teardown(async () => {
  connection.close()
  await pool.close()
})

const system = 'mssql'
// SQL Server takes @P and @p for one.
const sql = 'select one from users where id = @id and password = @P'
const prepared = [
  { system, sql: `prepare ${sql}`, parameters: [], location: { line: lineOf('prepared') } },
  { sql, parameters: [{ id: 7, p: '[masked]' }], rows: 1, location: { line: lineOf('executed') } },
  { sql, parameters: [{ id: 8, p: '[masked]' }], rows: 1, location: { line: lineOf('executed') } },
  { sql: `unprepare ${sql}`, parameters: [], location: { line: lineOf('unprepared') } },
]

function requestFor(text: string, done: (error?: Error | null, rows?: number) => void = () => {}): Request {
  const request = new Request(text, done)
  request.addParameter('id', TYPES.Int, 7)
  return request
}

t.test('what tedious sends has its text, its parameters by their names, its rows and its caller', async t => {
  const { database } = await profileOf(t, async () => {
    await promisify(done => connection.execSql(requestFor('select 1', done)))() // asked
    await promisify(done => connection.execSqlBatch(new Request('begin try select 2 end try', done)))() // in a batch
    await promisify(done => connection.callProcedure(requestFor('find_user', done)))() // called
    const art = await promisify(done => {
      const load = connection.newBulkLoad('art', done)
      load.addColumn('id', TYPES.Int, { nullable: true })
      connection.execBulkLoad(load, [[1], [2]]) // loaded
    })()
    t.equal(art, 2)
  })
  t.match(database, {
    count: 4,
    transactions: 0,
    queries: [
      { system, sql: 'select 1', parameters: [{ id: 7 }], rows: 1, location: { line: lineOf('asked') } },
      { sql: 'begin try select 2 end try', parameters: [], location: { line: lineOf('in a batch') } },
      { sql: 'exec find_user', parameters: [{ id: 7 }], location: { line: lineOf('called') } },
      { sql: 'insert bulk art', rows: 2, location: { line: lineOf('loaded') } },
    ],
  })
})

t.test('a prepared statement of tedious is a query each time it is executed, and so are its preparations', async t => {
  const { database } = await profileOf(t, async () => {
    const request = new Request(sql, () => {})
    request.addParameter('id', TYPES.Int)
    request.addParameter('p', TYPES.NVarChar)
    const { callback } = request
    connection.prepare(request) // prepared
    await once(request, 'prepared')
    for (const id of [7, 8]) {
      connection.execute(request, { id, p: 'hunter2' }) // executed
      await once(request, 'requestCompleted')
    }
    connection.unprepare(request) // unprepared
    await once(request, 'requestCompleted')
    t.equal(request.callback, callback, 'the request is as it was')
  })
  t.match(database, { count: 4, queries: prepared })
})

t.test('a prepared statement of mssql is recorded as that of tedious', async t => {
  const { database } = await profileOf(t, async () => {
    const statement = new mssql.PreparedStatement(pool).input('id', mssql.Int).input('p', mssql.NVarChar)
    await statement.prepare(sql) // prepared by mssql
    for (const id of [7, 8]) await statement.execute({ id, p: 'hunter2' }) // executed by mssql
    await statement.unprepare() // unprepared by mssql
  })
  const lines = ['prepared', 'executed', 'executed', 'unprepared'].map(name => lineOf(`${name} by mssql`))
  t.match(database, { count: 4, queries: prepared.map((one, n) => ({ ...one, location: { line: lines[n] } })) })
})

t.test('batches, procedures, tables and templates of mssql are one query each, as they are written', async t => {
  const table = new mssql.Table('art')
  table.columns.add('id', mssql.Int, { nullable: true })
  table.rows.add(1)
  const { database } = await profileOf(t, async () => {
    await pool.request().input('id', 7).batch('select @id') // in a batch of mssql
    await pool.request().input('id', 7).execute('find_user') // called by mssql
    await pool.request().bulk(table) // loaded by mssql
    await pool.query`select ${7}` // in a template
  })
  t.match(database, {
    count: 4,
    queries: [
      { sql: 'select @id', parameters: [{ id: 7 }], location: { line: lineOf('in a batch of mssql') } },
      { sql: 'exec find_user', parameters: [{ id: 7 }], location: { line: lineOf('called by mssql') } },
      { sql: 'insert bulk [art]', rows: 2, location: { line: lineOf('loaded by mssql') } },
      { sql: 'select @param1', parameters: [{ param1: 7 }], location: { line: lineOf('in a template') } },
    ],
  })
})

t.test('a transaction of tedious lasts beyond its savepoint, until it is rolled back', async t => {
  const { database } = await profileOf(t, async () => {
    await promisify(done => connection.beginTransaction(done, 'whole'))()
    await new Promise(resolve => connection.saveTransaction(resolve, 'part'))
    await new Promise(resolve => connection.rollbackTransaction(resolve, 'whole')) // rolled back
  })
  const statements = database?.queries.map(({ sql, transaction }) => [sql, transaction])
  t.strictSame(statements, [
    ['begin transaction', 1],
    ['savepoint', 1],
    ['rollback', 1],
  ])
  t.equal(database?.queries[2]?.location?.line, lineOf('rolled back'))
})

t.test('a request that tedious refuses or cancels has failed, with the error that the application gets', async t => {
  const errors: unknown[] = []
  const { database } = await profileOf(t, async () => {
    const invalid = new Request('select @id', error => errors.push(error))
    invalid.addParameter('id', TYPES.Int, 'seven')
    connection.execSql(invalid) // refused
    await once(invalid, 'requestCompleted')
    const hanging = new Request('hang', error => errors.push(error))
    connection.execSql(hanging) // cancelled
    await once(hanging, 'row')
    connection.cancel()
    await once(hanging, 'requestCompleted')
  })
  t.match(errors, [{ code: 'EPARAM' }, { code: 'ECANCEL' }])
  t.match(database, {
    failed: 2,
    queries: [
      { error: /Validation failed for parameter 'id'/, location: { line: lineOf('refused') } },
      { error: /Canceled/, location: { line: lineOf('cancelled') } },
    ],
  })
})

t.test('a request that nothing answers has no duration', async t => {
  const hanging = new Request('hang', () => {})
  const { database } = await profileOf(t, async () => {
    connection.execSql(hanging)
    await once(hanging, 'row')
  })
  t.match(database, { count: 1, failed: 0, queries: [{ sql: 'hang', duration: null, rows: null }] })
  connection.cancel()
  await once(hanging, 'requestCompleted')
})

t.test('a value of SQL Server is masked if its name belongs to a secret column, also in a variable', async t => {
  const { database } = await profileOf(t, async () => {
    const request = pool.request().input('p0', 'Lisa').input('p1', 'hunter2')
    await request.query('insert into [users] ([name], [password]) values (@p0, @p1)')
    await pool.query("declare @new varchar(9) = 'hunter2'; update [users] set [password] = @new")
  })
  t.match(database?.queries, [{ parameters: [{ p0: 'Lisa', p1: '[masked]' }] }, { sql: /= '\[masked\]'; update/ }])
})
