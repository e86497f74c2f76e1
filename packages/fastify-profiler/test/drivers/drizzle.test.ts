import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePostgresJs, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import pg from 'pg'
import postgres from 'postgres'
import t from 'tap'
import { linesOf, profileOf } from './driver-app.ts'
import { servePostgres } from './postgres-server.ts'

const port = await servePostgres(t)
const lineOf = linesOf(import.meta.filename)
// The package's own folder, where its copy of Drizzle may be.
const root = dirname(dirname(dirname(import.meta.dirname)))
const museums = pgTable('museums', { one: text('one'), password: text('password') })
const options = { host: '127.0.0.1', port, user: 'tester' }
const pool = new pg.Pool(options)
const require = createRequire(import.meta.url)
const required: typeof postgres = require('postgres')
const clients = [postgres(options), required(options)] as const
t.teardown(() => Promise.all([pool.end(), ...clients.map(client => client.end())]))
const schema = { museums }
const databases: Record<string, NodePgDatabase<typeof schema> | PostgresJsDatabase<typeof schema>> = {
  'ES build on pg': drizzle(pool, { schema }),
  'CommonJS build on pg': require('drizzle-orm/node-postgres').drizzle(pool, { schema }),
  'ES build on postgres.js': drizzlePostgresJs(clients[0], { schema }),
  'CommonJS build on postgres.js': require('drizzle-orm/postgres-js').drizzle(clients[1], { schema }),
}

for (const [name, db] of Object.entries(databases)) {
  t.test(`awaited queries of Drizzle's ${name} have the line that began to build them`, async t => {
    const { database } = await profileOf(
      t,
      async () => {
        await db.select({ one: museums.one }).from(museums).where(eq(museums.password, 'hunter2')) // selected
        await db.insert(museums).values({ one: 'x' }) // inserted
        await db.update(museums).set({ one: 'y' }) // updated
        await db.delete(museums) // deleted
        await db.execute(sql`select 1`) // executed
        await db.query.museums.findMany({ columns: { one: true } }) // found
        await db.$count(museums) // counted
      },
      { root },
    )
    const shown = database?.queries.map(({ sql, location }) => [sql.split(' ')[0], location?.line])
    t.match(
      shown,
      ['selected', 'inserted', 'updated', 'deleted', 'executed', 'found', 'counted'].map((done, n) => [
        ['select', 'insert', 'update', 'delete'][n] ?? 'select',
        lineOf(done),
      ]),
    )
    t.match(database?.queries[0], { system: 'postgresql', parameters: ['[masked]'], rows: 1 })
  })

  t.test(`a query of Drizzle's ${name} that is sent at once has its caller, also in a loop`, async t => {
    const { database } = await profileOf(
      t,
      () => {
        for (const one of ['a', 'b', 'c', 'd', 'e']) {
          void db.select({ one: museums.one }).from(museums).where(eq(museums.one, one)).execute() // in a loop
        }
      },
      { root },
    )
    t.match(database?.repetitions, [{ kind: 'loop', count: 5, locations: [{ line: lineOf('in a loop') }] }])
  })
}
