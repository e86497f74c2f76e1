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

t.test('an awaited query has the line that began to build it, and is one with that of the driver', async t => {
  const db = open(t)
  const { database } = await profileOf(t, async () => {
    await db('museums').where({ id: 7, password: 'hunter2' }) // built
    await db.raw('select one from museums where id = ?', [8]) // raw
  })
  t.match(database, {
    count: 2,
    queries: [
      {
        system: 'postgresql',
        sql: 'select * from "museums" where "id" = $1 and "password" = $2',
        parameters: [7, '[masked]'],
        rows: 1,
        location: { line: lineOf('built') },
      },
      { sql: 'select one from museums where id = $1', parameters: [8], location: { line: lineOf('raw') } },
    ],
  })
})

t.test('the wait for a connection is separate from the duration of a query', async t => {
  const db = open(t)
  const { database } = await profileOf(t, () => Promise.all([db.raw('select sleep 30'), db.raw('select sleep 31')]))
  const [first = 0, second = 0] = database?.queries.map(({ waited }) => waited) ?? []
  t.ok(second - first >= 15, `waited ${first} and ${second} ms`)
})

t.test('the queries of a transaction have their number', async t => {
  const db = open(t)
  const { database } = await profileOf(t, () =>
    db.transaction(async transaction => {
      await transaction('museums').update({ name: 'Prado' }) // in a transaction
    }),
  )
  t.match(database?.queries, [
    { sql: 'BEGIN;', transaction: 1 },
    { sql: /^update/, transaction: 1, location: { line: lineOf('in a transaction') } },
    { sql: 'COMMIT;', transaction: 1 },
  ])
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

t.test('a query in a loop is one', async t => {
  const db = open(t)
  const { database } = await profileOf(t, async () => {
    for (let id = 1; id <= 5; id++) await db('museums').where({ id }) // in a loop
  })
  t.match(database?.repetitions, [{ kind: 'loop', count: 5, locations: [{ line: lineOf('in a loop') }] }])
})

t.test('the application gets the error of the driver itself', async t => {
  const db = open(t)
  let thrown: unknown
  const { database } = await profileOf(t, async () => {
    thrown = await db.raw('fail').catch((error: unknown) => error)
  })
  t.match(thrown, { code: '42601', message: 'fail - cannot fail' })
  t.match(database, { count: 1, failed: 1 })
})
