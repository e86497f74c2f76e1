import knex, { type Knex } from 'knex'
import t, { type Test } from 'tap'
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
