import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'
import t from 'tap'
import { linesOf, profileOf } from './driver-app.ts'
import { servePostgres } from './postgres-server.ts'

const port = await servePostgres(t)
const lineOf = linesOf(import.meta.filename)
// The package's own folder, where its copy of Drizzle may be.
const root = dirname(dirname(dirname(import.meta.dirname)))
const museums = pgTable('museums', { one: text('one'), password: text('password') })
const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'tester' })
t.teardown(() => pool.end())

const build = {
  ES: drizzle,
  CommonJS: createRequire(import.meta.url)('drizzle-orm/node-postgres').drizzle as typeof drizzle,
}

for (const [name, open] of Object.entries(build)) {
  const db = open(pool, { schema: { museums } })

  t.test(`awaited queries of Drizzle's ${name} build have the line that began to build them`, async t => {
    const { database } = await profileOf(
      t,
      async () => {
        await db.select({ one: museums.one }).from(museums).where(eq(museums.password, 'hunter2')) // selected
        await db.insert(museums).values({ one: 'x' }) // inserted
        await db.update(museums).set({ one: 'y' }) // updated
        await db.delete(museums) // deleted
        await db.execute(sql`select 1`) // executed
        await db.query.museums.findMany({ columns: { one: true } }) // found
      },
      { root },
    )
    const shown = database?.queries.map(({ sql, location }) => [sql.split(' ')[0], location?.line])
    t.match(
      shown,
      ['select', 'insert', 'update', 'delete', 'execute', 'found'].map((verb, n) => [
        ['select', 'insert', 'update', 'delete', 'select', 'select'][n],
        lineOf(['selected', 'inserted', 'updated', 'deleted', 'executed', 'found'][n] ?? verb),
      ]),
    )
    t.match(database?.queries[0], { system: 'postgresql', parameters: ['[masked]'], rows: 1 })
  })

  t.test(`a query of Drizzle's ${name} build that is sent at once has its caller, also in a loop`, async t => {
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
