import { readFileSync } from 'node:fs'
import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { DatabaseUse } from 'fastify-profiler'
import { addLicense } from '../../../support/records.ts'
import { sourceFile } from '../../../support/source-file.ts'
import { openTestDatabase } from '../../../support/test-database.ts'
import { buildDebugged, panelOf, readPanel } from './panels.ts'

const database = await openTestDatabase(t)
const { db } = database
const license = await addLicense(database, {
  domain: 'museum.test',
  languages: ['en', 'de'],
  museums: ['Louvre', 'Prado', 'Uffizi'],
})
const coldDomains = ['one.test', 'two.test']
for (const domain of coldDomains) await addLicense(database, { domain })

async function routes(app: FastifyInstance) {
  const selectMuseum = (id: number) => db.selectFrom('museums').select('name').where('id', '=', String(id)).execute() // asked for a museum

  app.get('/loop', async () => {
    await db.selectFrom('museums').selectAll().execute()
    for (let id = 1; id <= 20; id++) await selectMuseum(id)
  })
  app.get('/different', async () => {
    for (let n = 1; n <= 21; n++) await sql`select ${sql.raw(String(n))}`.execute(db)
  })
  app.get('/four', async () => {
    for (let id = 1; id <= 4; id++) await selectMuseum(id)
  })
  app.get('/duplicates', async () => {
    await db.selectFrom('museums').selectAll().where('license_id', '=', license).execute() // asked first
    await db.selectFrom('museums').selectAll().where('license_id', '=', license).execute() // asked again
    for (let n = 0; n < 2; n++) {
      await db.updateTable('museums').set({ name: 'Prado' }).where('name', '=', 'Prado').execute()
    }
    for (let n = 0; n < 2; n++) await sql`select ${[n]}::text, ${'x'.repeat(2000)}`.execute(db)
  })
  app.get('/endless', async () => {
    sql`select for ever`.execute(endlessDatabase).catch(() => {})
  })
  const compiled = db.selectFrom('museums').select('name').limit(1).compile()
  app.get('/compiled', async () => {
    await db.executeQuery(compiled) // sent first
    await db.executeQuery(compiled) // sent again
  })
  app.get('/parameters', async () => {
    const [time, bytes, json] = [new Date(0), Buffer.from('bytes'), { some: ['json'] }]
    await sql`select ${1}::int, ${null}::text, ${time}::timestamptz, ${bytes}::bytea, ${json}::jsonb`.execute(db)
  })
  app.get('/large', async () => {
    await sql`select ${'x'.repeat(300_000)}::text`.execute(db)
    await sql`select ${JSON.stringify(Array(1000).fill(1))}::text, ${{ list: Array(1000).fill(1) }}::jsonb`.execute(db)
    await sql`select 1 where 1 in (${sql.join(Array.from({ length: 700 }, (_, n) => n))})`.execute(db)
    await sql`select ${'there is no room'}::text`.execute(db)
  })
  app.get('/unserialisable', async () => {
    const endless: Record<string, unknown> = {}
    endless['itself'] = endless
    await sql`select ${endless}::jsonb`.execute(db)
  })
  app.get('/countless', async () => {
    for (let n = 0; n < 20_000; n++) await sql`select ${n}`.execute(anyDatabase)
  })
  app.get('/shapes', async () => {
    for (let n = 0; n < 1100; n++) {
      for (let times = 0; times < 6; times++) {
        await sql`select * from ${sql.table(`museums_${n}`)} where id = ${times}`.execute(anyDatabase)
      }
    }
  })
  app.get('/foreign', async () => {
    const query = sql`;`
    process.nextTick(query.execute.bind(query, db))
    await new Promise(resolve => setImmediate(resolve))
  })
  app.get('/none', async () => 'no query')
}

/** A database without a server, which answers queries in this way. */
function databaseOf(executeQuery: DatabaseConnection['executeQuery']): Kysely<unknown> {
  const driver = new DummyDriver()
  driver.acquireConnection = async () => ({ executeQuery, async *streamQuery() {} })
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

const anyDatabase = databaseOf(async () => ({ rows: [], numAffectedRows: 1n }))
const endlessDatabase = databaseOf(() => new Promise(() => {}))

const app = await buildDebugged(t, { database, routes })
const headers = { host: 'museum.test' }
// Caches licenses and languages, so that requests only send their own queries.
await app.inject({ url: '/none', headers })

const ask = (url: string) => app.inject({ url, headers })
const queriesOf = async (url: string) => panelOf<DatabaseUse>(app, await ask(url), 'database')

const source = readFileSync(sourceFile(import.meta.filename), 'utf8').split('\n')
const lineOf = (comment: string) => source.findIndex(line => line.endsWith(`// ${comment}`)) + 1

t.test('a loop of 1 + 20 queries is flagged with its file and line', async t => {
  const { count, repetitions } = await queriesOf('/loop')
  t.strictSame([count, repetitions.length], [21, 1])
  t.match(repetitions[0], {
    kind: 'loop',
    count: 20,
    sql: /from "museums" where "id" = \$1/,
    locations: [{ file: sourceFile(import.meta.filename), line: lineOf('asked for a museum') }],
  })
})

t.test('21 different queries from one line and four queries of one shape are no loop', async t => {
  t.hasStrict(await queriesOf('/different'), { count: 21, repetitions: [] })
  t.hasStrict(await queriesOf('/four'), { count: 4, repetitions: [] })
})

t.test(
  'two reads with the same parameters are duplicates, whichever lines they come from, but two changes are not',
  async t => {
    const { repetitions, queries, rows } = await queriesOf('/duplicates')
    t.match(repetitions, [
      { kind: 'duplicate', count: 2, locations: [{ line: lineOf('asked first') }, { line: lineOf('asked again') }] },
    ])
    t.equal(repetitions.length, 1)
    t.match(queries[0], { rows: 3, parameters: [license], error: null })
    t.match(queries[2], { sql: /^update/, rows: 1 }, 'the rows that it changed')
    t.equal(rows, 10)
    t.ok(queries.every(({ start }) => start > 0))
  },
)

t.test('a query that outlives the profile is shown as unfinished', async t => {
  t.match((await queriesOf('/endless')).queries, [{ sql: 'select for ever', duration: null, error: null }])
})

t.test('parameters of every type are shown', async t => {
  const { queries } = await queriesOf('/parameters')
  t.strictSame(queries[0]?.parameters, [1, null, '1970-01-01T00:00:00.000Z', '[5 bytes]', { some: ['json'] }])
})

t.test('a parameter that cannot be serialised does not harm the profile', async t => {
  const response = await ask('/unserialisable')
  t.equal(response.statusCode, 500)
  t.equal((await panelOf<DatabaseUse>(app, response, 'database')).count, 1)
})

t.test("a query that the application's own code did not send has no location, and may be empty", async t => {
  t.match((await queriesOf('/foreign')).queries, [{ sql: ';', location: null }])
})

t.test('a query compiled in advance belongs to each request that sends it, with the line that sends it', async t => {
  for (const response of [await ask('/compiled'), await ask('/compiled')]) {
    const { count, queries } = await panelOf<DatabaseUse>(app, response, 'database')
    t.equal(count, 2)
    t.match(queries, [
      { rows: 1, location: { line: lineOf('sent first') } },
      { rows: 1, location: { line: lineOf('sent again') } },
    ])
  }
})

t.test('a query for several cold hosts is in the profile of the request that waited for it first', async t => {
  const responses = await Promise.all(
    coldDomains.map(domain => app.inject({ url: '/none', headers: { host: domain } })),
  )
  const panels = await Promise.all(responses.map(response => panelOf<DatabaseUse | null>(app, response, 'database')))
  const asked = panels.map(
    panel => panel?.queries.flatMap(({ parameters }) => [parameters[0]].flat().map(String)) ?? [],
  )
  t.strictSame(asked.flat().sort(), [...coldDomains].sort())
  for (const [place, domains] of asked.entries()) if (domains.length > 0) t.equal(domains[0], coldDomains[place])
})

t.test('parameters that are too large or too many are only described', async t => {
  const { queries } = await queriesOf('/large')
  t.strictSame(queries[0]?.parameters, ['[300000 characters]'])
  t.match(queries[1]?.parameters, [/^\[1,1/, '[object of 2010 characters]'])
  t.match(queries[2]?.parameters.at(-1), '… (700 parameters)')
  t.strictSame(queries[3]?.parameters, ['… (1 parameters)'])
})

t.test('all of 20,000 queries are counted, and only the first are listed', async t => {
  const before = performance.now()
  const response = await ask('/countless')
  const { count, rows, duration, queries, repetitions } = await panelOf<DatabaseUse>(app, response, 'database')
  t.comment(`${((performance.now() - before) / 20).toFixed(1)} µs a query`)
  t.match({ count, rows }, { count: 20_000, rows: 20_000 })
  t.ok(duration > 0)
  t.equal(queries.length, 100)
  t.match(repetitions, [{ kind: 'loop', count: 20_000 }])
  const profile = (await app.inject(`/_profiler/${response.headers['x-debug-token']}`)).json()
  t.match(profile, {
    notes: ['The timeline shows the first 1,000 queries one by one, and later ones together.'],
    dropped: [],
  })
  t.match(JSON.stringify(profile.spans), '"hook":"onSend"', 'a later span is on the timeline')
  t.ok(JSON.stringify(profile).length < 1_048_576)
})

t.test('only the first of too many loops are shown', async t => {
  const { count, repetitions } = await queriesOf('/shapes')
  t.equal(count, 6600)
  t.equal(repetitions.length, 20)
})

t.test('a request without a query has no data, and its panel says so, whatever is queried outside of it', async t => {
  await db.selectFrom('museums').selectAll().execute()
  const response = await ask('/none')
  t.equal(await panelOf(app, response, 'database'), null)
  t.match(await readPanel(app, response, 'database', 'text/html'), 'Nothing was recorded')
})
