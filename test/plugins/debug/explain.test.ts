import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense } from '../../support/records.ts'
import { openTestDatabase } from '../../support/test-database.ts'
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

const statements: Record<string, { text: string; values?: unknown[] }> = {
  scan: { text: "select * from carts where user_id = $1 and state = 'open'", values: [12] },
  indexed: { text: 'select * from carts where id = $1', values: [12] },
  small: { text: 'select 1 as one' },
  masked: {
    text: 'select * from carts where state = $1 or $2::text = $1',
    values: ['open', 'Bearer abcdefghijklmnop1234'],
  },
  sort: { text: 'select c.state, d.id from carts c, generate_series(1, 12) d(id) order by c.state, d.id desc' },
  misjudged: { text: 'select * from carts where (user_id + 0) % 1 = 0' },
  insert: { text: "insert into carts values (90001, 1, 'new')" },
  update: { text: "update carts set state = 'gone' where id = 1" },
  delete: { text: 'delete from carts where id = 90001' },
  modifying: { text: "with gone as (insert into carts values (90002, 1, 'x') returning 1) select * from gone" },
  setval: { text: "select setval('tickets', 100)" },
  nextval: { text: "select nextval('tickets')" },
  grown: { text: "select case when exists (select 1 from carts where state = 'slow') then pg_sleep(30) end" },
  hostile: { text: "select '<script>alert(1)</script>' as \"</code>\" from carts where state = '`|<img src=x>'" },
  several: { text: 'select 1; select 2' },
  show: { text: 'show server_version' },
}

async function routes(app: FastifyInstance) {
  app.get<{ Params: { name: string } }>('/run/:name', async ({ params }) => {
    const { text, values = [] } = statements[params.name] ?? { text: 'select' }
    const connection = await database.pool.connect()
    try {
      await connection.query({ text, values })
    } finally {
      connection.release()
    }
    return 'done'
  })
}

const app = await buildDebugged(t, { database, routes })
const ownPage = { host: 'localhost', 'sec-fetch-site': 'same-origin' }

async function tokenOf(name: string): Promise<string> {
  const answer = await app.inject({ url: `/run/${name}`, headers: { host: 'museum.test' } })
  await app.profiler.settled()
  return String(answer.headers['x-debug-token'])
}

/** Posts to a path of the profiler, as its own page does. */
const post = (path: string, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
  app.inject({ method: 'POST', url: `/_profiler/${path}`, headers: { ...ownPage, ...headers }, remoteAddress })

async function explain(name: string, { run = false, headers = {}, accept = 'application/json' } = {}) {
  const token = await tokenOf(name)
  const profile = await app.profiler.find(token)
  const number = (profile?.database?.queries ?? []).findIndex(query => query.sql === statements[name]?.text) + 1
  const sent = { accept, 'content-type': 'application/x-www-form-urlencoded', ...headers }
  return post(`${token}/queries/${number}/explain${run ? '?run' : ''}`, sent)
}

async function explained(name: string, run = false) {
  return (await explain(name, { run })).json<{
    plan: string
    verdicts: Array<{ claim: string; sql: string | null }>
    nodes: unknown[]
  }>()
}

/** The embedded database cannot stop a statement. */
const canRun = database.isShared
const skip = canRun ? false : 'The embedded database runs no query again.'

t.test('the embedded database runs no query again, because nothing could stop it', { skip: canRun }, async t => {
  t.match(await explained('small', true), { error: /only where the database can stop it/ })
})

t.test('a scan of a large table for a few rows is named with the index that it lacks', async t => {
  for (const run of canRun ? [false, true] : [false]) {
    t.match(await explained('scan', run), {
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

t.test('a query that uses an index, or reads little, has nothing to mend', async t => {
  t.match(await explained('indexed'), {
    verdicts: [{ claim: 'No missing index found. It uses carts_pkey.', sql: null }],
  })
  t.match(await explained('small'), { verdicts: [{ claim: 'No missing index found.' }] })
})

t.test('a query with a masked value is planned for any values, and is not run', async t => {
  t.match(await explained('masked'), { plan: 'generic', nodes: [{ type: 'Seq Scan', relation: 'carts' }] })
  t.match(await explained('masked', true), { error: /^Only a SELECT whose values are all known is run again/ })
})

t.test('a query that was run tells of sorts on disk and wrong estimates', { skip }, async t => {
  t.match(await explained('sort', true), { verdicts: [{ claim: /^Sorting 240,000 rows wrote [\d,]+ kB to disk\.$/ }] })
  t.match(await explained('misjudged', true), {
    verdicts: [{ claim: 'Expected 100 rows of carts, and got 20,000.', sql: 'analyze carts' }],
  })
})

t.test('explaining changes no row and no sequence', async t => {
  const state = async () => {
    const { rows } = await sql`select count(*) as rows, max(id) as id, count(distinct state) as states,
      (select last_value from tickets) as ticket from carts`.execute(db)
    return rows
  }
  for (const name of ['insert', 'update', 'delete', 'modifying', 'setval', 'nextval']) {
    const token = await tokenOf(name)
    const before = await state()
    for (const run of ['', '?run']) {
      t.equal((await post(`${token}/queries/1/explain${run}`)).statusCode, 200)
    }
    t.strictSame(await state(), before, name)
  }
  if (canRun) {
    t.match(await explained('setval', true), { error: /cannot execute setval\(\) in a read-only transaction/ })
  }
  t.match(await explained('insert', true), { error: /^Only a SELECT/ })
})

t.test('a text of several statements, and what is no query, are refused', async t => {
  t.match(await explained('several'), { error: /cannot insert multiple commands/ })
  t.match(await explained('show'), { error: /^Only PostgreSQL, MySQL and MariaDB explain queries here/ })
})

t.test('a query that has become slow is given up after two seconds', { skip }, async t => {
  const token = await tokenOf('grown')
  await sql`insert into carts values (30001, 1, 'slow')`.execute(db)
  const answer = await post(`${token}/queries/1/explain?run`)
  await sql`delete from carts where id = 30001`.execute(db)
  t.match(answer.json().error, /It takes longer than two seconds|statement timeout/)
  t.match(await explained('small', true), { plan: 'run' })
})

t.test('a plan is a page, and Markdown, too, with hostile text escaped', async t => {
  const page = (await explain('hostile', { accept: 'text/html' })).body
  t.match(page, /<h1>Plan of query \d<\/h1>.*Reads all 20,000 rows of carts/s)
  t.notMatch(page, /<script>alert|<img/)
  t.equal((await explain('scan', { accept: 'text/html' })).body.includes('Analyze (runs the query)'), canRun)
  t.match((await explain('scan', { accept: 'text/markdown' })).body, /^# Plan\n\n- Reads all.*create index/s)
  t.match((await explain('show', { accept: 'text/markdown' })).body, /^# No plan\n/)
  t.match((await explain('show', { accept: 'text/html' })).body, 'class="notice warning">Only PostgreSQL, ')
})

t.test('the Database panel has a button for each query that can be explained', async t => {
  for (const [name, has] of [
    ['scan', true],
    ['show', false],
  ] as const) {
    const token = await tokenOf(name)
    const url = `/_profiler/${token}?panel=database`
    const { body } = await app.inject({ url, headers: { host: 'localhost', accept: 'text/html' } })
    t.equal(body.includes(`action="/_profiler/${token}/queries/1/explain"`), has)
  }
})

t.test('another site, another address and unknown queries get no plan', async t => {
  t.equal((await explain('small', { headers: { 'sec-fetch-site': 'cross-site' } })).statusCode, 403)
  const token = await tokenOf('small')
  for (const path of [`${token}/queries/2`, `${token}/queries/0`, `${token}/queries/x`, 'unknown/queries/1']) {
    t.equal((await post(`${path}/explain`)).statusCode, 404, path)
  }
  t.equal((await post(`${token}/queries/1/explain`, {}, '203.0.113.9')).statusCode, 404)
})
