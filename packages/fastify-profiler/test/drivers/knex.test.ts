import knex, { type Knex } from 'knex'
import t, { type Test } from 'tap'
import { profiledApp } from '../profiled-app.ts'
import { linesOf, profileOf } from './driver-app.ts'
import { servePostgres } from './postgres-server.ts'

const port = await servePostgres(t)
const lineOf = linesOf(import.meta.filename)

function open(t: Test): Knex {
  const db = knex({
    client: 'pg',
    connection: { host: '127.0.0.1', port, user: 'tester' },
    pool: { min: 0, max: 1 },
    version: '16',
  })
  t.teardown(() => db.destroy())
  return db
}

t.test('what Knex asks a new connection is no query of the request that waits for it', async t => {
  const db = open(t)
  const { database } = await profileOf(t, async () => {
    await db.select('one').from('museums')
  })
  t.match(database, { count: 1, queries: [{ sql: 'select "one" from "museums"' }] })
})

t.test('a copy of a query has the line that sends it, if that calls "then" itself', async t => {
  const db = open(t)
  const template = db('museums').select('one')
  const { database } = await profileOf(
    t,
    () => template.clone().then(rows => rows), // sent
  )
  t.match(database?.queries, [{ location: { line: lineOf('sent') } }])
})

const long = `fail - museums ${'museums '.repeat(30)}= ?`

for (const [what, wrap, expected] of [
  ['thrown as it is', (error: Error) => error, /^error: cannot fail/],
  [
    'wrapped with the statement, as by Drizzle',
    (cause: Error) => new Error(`Failed query: ${long}`, { cause }),
    /^Error: Failed query: fail .{1,60}…, caused by error: cannot fail/,
  ],
] as const) {
  t.test(`a list shows why a query failed and which line sent it, ${what}`, async t => {
    const db = open(t)
    const app = await profiledApp(t)
    app.get('/', async () => {
      const error: unknown = await db.raw(long, [7]).catch((error: unknown) => error) // failed
      if (error instanceof Error) throw Object.assign(wrap(error), { stack: '' })
    })
    await app.inject('/')
    await app.profiler.settled()
    const { profiles } = await app.profiler.search({})
    const [{ exception, thrownAt, troubles } = {}] = profiles
    t.match(exception, expected)
    t.match(thrownAt, `knex.test.ts:${lineOf('failed')}:`)
    t.match(troubles, [{ what: 'fails', detail: expected }])
  })
}
