import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, openTestDatabase } from '../../support/site.ts'
import { buildDebugged } from './panels/panels.ts'

const database = await openTestDatabase(t)
const { db } = database
await addLicense(database, { domain: 'museum.test' })
await sql`create table carts (id int primary key, user_id int, state text)`.execute(db)
await sql`insert into carts select n, n % 5000, 'open' from generate_series(1, 20000) n`.execute(db)
await sql`analyze carts`.execute(db)
await sql`create sequence tickets`.execute(db)
t.teardown(async () => {
  await sql`drop table carts`.execute(db)
  await sql`drop sequence tickets`.execute(db)
})

const scan = "select * from carts where user_id = 12 and state = 'open'"
const grown = "select case when exists (select 1 from carts where state = 'slow') then pg_sleep(30) end"
const changes = [
  "insert into carts values (90001, 1, 'new')",
  "update carts set state = 'gone' where id = 1",
  'delete from carts where id = 90001',
  "with gone as (insert into carts values (90002, 1, 'x') returning 1) select * from gone",
  "select setval('tickets', 100)",
]

async function routes(app: FastifyInstance) {
  app.get<{ Querystring: { text: string } }>('/run', async ({ query: { text } }) => {
    const connection = await database.pool.connect()
    await connection.query({ text, values: [] }).finally(() => connection.release())
    return 'done'
  })
}

const app = await buildDebugged(t, { database, routes })

/** Sends a query in a request. @returns its path in the profiler */
async function pathOf(text: string): Promise<string> {
  const answer = await app.inject({ url: '/run', query: { text }, headers: { host: 'museum.test' } })
  await app.profiler.settled()
  const token = String(answer.headers['x-debug-token'])
  const queries = (await app.profiler.find(token))?.database?.queries ?? []
  return `${token}/queries/${queries.length}`
}

/** Explains a query, as the profiler's own page does. */
async function explain(path: string, run = false) {
  return (await post(`${path}/explain${run ? '?run' : ''}`)).json<object & { error?: string }>()
}

const post = (path: string, site = 'same-origin', remoteAddress = '127.0.0.1') => {
  const headers = { host: 'localhost', 'sec-fetch-site': site, accept: 'application/json' }
  return app.inject({ method: 'POST', url: `/_profiler/${path}`, headers, remoteAddress })
}

/** The embedded database cannot stop a statement. */
const canRun = database.isShared
const skip = canRun ? false : 'The embedded database runs no query again.'

t.test('the embedded database runs no query again, because nothing could stop it', { skip: canRun }, async t => {
  t.match(await explain(await pathOf('select 1'), true), { error: /only where the database can stop it/ })
})

t.test('a scan of a large table for a few rows is named with the index that it lacks', async t => {
  const path = await pathOf(scan)
  for (const run of canRun ? [false, true] : [false]) {
    t.match(await explain(path, run), {
      plan: run ? 'run' : 'values',
      verdicts: [
        {
          claim: `Reads all 20,000 rows of carts to find ${run ? '' : 'about '}4.`,
          sql: 'create index on carts (user_id, state)',
        },
      ],
    })
  }
})

t.test('explaining changes no row and no sequence', async t => {
  const state = async () => {
    const { rows } = await sql`select count(*) as rows, max(id) as id, count(distinct state) as states,
      (select last_value from tickets) as ticket from carts`.execute(db)
    return rows
  }
  for (const text of changes) {
    const path = await pathOf(text)
    const before = await state()
    for (const run of [false, true]) await explain(path, run)
    t.strictSame(await state(), before, text)
  }
})

t.test('several statements, and a query with a masked value, are not run', async t => {
  t.match(await explain(await pathOf('select 1; select 2')), { error: /cannot insert multiple commands/ })
  const masked = await pathOf("select * from carts where state = 'Bearer abcdefghijklmnop1234'")
  t.match(await explain(masked), { plan: 'generic', nodes: [{ type: 'Seq Scan', relation: 'carts' }] })
  t.match(await explain(masked, true), { error: /^Only a SELECT whose values are all known is run again/ })
})

t.test('another site, another address and unknown queries get no plan', async t => {
  const path = await pathOf('select 1')
  t.equal((await post(`${path}/explain`, 'cross-site')).statusCode, 403)
  for (const other of [`${path}9`, path.replace(/\d+$/, 'x'), 'unknown/queries/1']) {
    t.equal((await post(`${other}/explain`)).statusCode, 404, other)
  }
  t.equal((await post(`${path}/explain`, 'same-origin', '203.0.113.9')).statusCode, 404)
})

t.test('a query that has become slow is given up after two seconds', { skip }, async t => {
  const path = await pathOf(grown)
  await sql`insert into carts values (30001, 1, 'slow')`.execute(db)
  t.match((await explain(path, true)).error, /It takes longer than two seconds|statement timeout/)
  await sql`delete from carts where id = 30001`.execute(db)
  t.match(await explain(await pathOf('select 1'), true), { plan: 'run' })
})
