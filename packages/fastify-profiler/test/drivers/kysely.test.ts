import { createRequire } from 'node:module'
import {
  DummyDriver,
  Kysely,
  MssqlAdapter,
  MysqlAdapter,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  type DialectAdapter,
} from 'kysely'
import t, { type Test } from 'tap'
import { deferred } from '../profiled-app.ts'
import { linesOf, profileOf } from './driver-app.ts'
import { openPool, servePostgres } from './postgres-server.ts'

const port = await servePostgres(t)
const lineOf = linesOf(import.meta.filename)

interface Tables {
  museums: { id: number; name: string }
}

class NoDriver extends DummyDriver {
  override async acquireConnection() {
    return { executeQuery: async () => ({ rows: [] }), async *streamQuery() {} }
  }
}

function open(t: Test, adapter?: DialectAdapter): Kysely<Tables> {
  const pool = openPool(t, port, { max: 1 })
  if (adapter === undefined) return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new NoDriver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

t.test('equal queries that get their connections out of order have waited once each', async t => {
  const pool = openPool(t, port, { max: 2 })
  const others = [await pool.connect(), await pool.connect()]
  const overtaken = deferred()
  let asked = 0
  const outOfOrder = {
    async connect() {
      const isFirst = asked++ === 0
      const client = await pool.connect()
      if (isFirst) await overtaken.promise
      return client
    },
    end: async () => {},
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: outOfOrder }) })
  const sleep = () => sql`select sleep 30`.execute(db)
  const { database, duration } = await profileOf(t, async () => {
    const first = sleep()
    const second = sleep().then(() => overtaken.resolve())
    await others[0]?.query('select sleep 31')
    for (const other of others) other.release()
    await Promise.all([first, second])
  })
  t.match(database, { count: 3, rows: 3 })
  for (const query of database?.queries ?? []) {
    t.ok(query.waited + Number(query.duration) <= duration, `waited ${query.waited} of ${duration} ms`)
  }
})

for (const [adapter, system] of [
  [new PostgresAdapter(), 'postgresql'],
  [new MysqlAdapter(), 'mysql'],
  [new SqliteAdapter(), 'sqlite'],
  [new MssqlAdapter(), 'mssql'],
] as const) {
  t.test(`a query of Kysely on a driver that nobody watches is a query of ${system}`, async t => {
    const db = open(t, adapter)
    const { database } = await profileOf(t, () => sql`select 1`.execute(db)) // sent to nobody
    t.match(database, { count: 1, queries: [{ system, rows: 0, location: { line: lineOf('sent to nobody') } }] })
  })
}

t.test('the CommonJS build of Kysely is watched, too', async t => {
  const kysely: { Kysely: typeof Kysely } = createRequire(import.meta.url)('kysely')
  t.not(kysely.Kysely, Kysely)
  const pool = openPool(t, port)
  const { database } = await profileOf(t, async () => {
    const db = new kysely.Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    await db.selectFrom('museums').selectAll().execute() // of the other build
  })
  t.match(database, { count: 1, queries: [{ location: { line: lineOf('of the other build') } }] })
})
