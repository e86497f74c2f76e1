import { createRequire } from 'node:module'
import t from 'tap'
import { sqliteDriver } from '../../features/queries/drivers/sqlite.ts'
import { linesOf, profileOf } from './driver-app.ts'

const lineOf = linesOf(import.meta.filename)

/** Stands in for better-sqlite3, whose binary is not to be had everywhere: classes with the same names. */
class Statement {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }

  bind(..._values: unknown[]): this {
    return this
  }

  all(..._values: unknown[]): unknown[] {
    return [{ one: 1 }, { one: 2 }]
  }

  get(..._values: unknown[]): unknown {
    return this.source === 'select none' ? undefined : { one: 1 }
  }

  run(..._values: unknown[]): { changes: number } {
    if (this.source.startsWith('fail')) throw new TypeError('It failed.')
    return { changes: 3 }
  }

  *iterate(..._values: unknown[]): Iterable<unknown> {
    yield { one: 1 }
  }
}

class Database {
  prepare(source: string): Statement {
    if (source.startsWith('wrong')) throw new TypeError('It is wrong.')
    return new Statement(source)
  }

  exec(_sql: string): this {
    return this
  }
}

sqliteDriver.patch?.(Database)

t.test('statements have their SQL, parameters, rows, transaction and caller', async t => {
  const db = new Database()
  const { database } = await profileOf(t, () => {
    db.exec('begin')
    t.same(db.prepare('select one from museums where id = ?').all(7).length, 2) // all
    db.prepare('select password from users where name = @name').get({ name: 'nobody', token: 'hunter2' })
    db.prepare('select one').get()
    db.prepare('select none').bind(5, 'nobody').get()
    db.prepare('update users set password = ?').run(['hunter2'])
    db.exec('commit')
    t.strictSame([...db.prepare('select one').iterate()], [{ one: 1 }])
  })
  t.match(database, {
    count: 8,
    queries: [
      { system: 'sqlite', sql: 'begin', transaction: 1 },
      { parameters: [7], rows: 2, transaction: 1, location: { line: lineOf('all') } },
      { parameters: [{ name: 'nobody', token: '[masked]' }], rows: 1 },
      { rows: 1 },
      { parameters: [5, 'nobody'], rows: 0 },
      { parameters: ['[masked]'], rows: 3 },
      { sql: 'commit', transaction: 1 },
      { rows: null, transaction: null },
    ],
  })
})

t.test('the application gets the error of the driver itself, also of a statement that cannot be prepared', async t => {
  const { database } = await profileOf(t, () => {
    t.throws(() => new Database().prepare('fail').run(), { name: 'TypeError', message: 'It failed.' })
    t.throws(() => new Database().prepare('wrong'), { message: 'It is wrong.' }) // wrong
  })
  t.match(database, {
    count: 2,
    failed: 2,
    queries: [
      { sql: 'fail', error: 'TypeError: It failed.', rows: null },
      { sql: 'wrong', error: 'TypeError: It is wrong.', location: { line: lineOf('wrong') } },
    ],
  })
})

t.test('a statement that was prepared unseen has its own connection, or that of its database', async t => {
  const db = new Database()
  const { database } = await profileOf(t, () => {
    db.prepare('select one').get()
    Object.assign(new Statement('begin'), { database: db }).run()
    new Statement('select two').get()
    db.prepare('select three').get()
  })
  const found = database?.queries.map(({ sql, transaction }) => [sql, transaction])
  t.match(found, [
    ['select one', null],
    ['begin', 1],
    ['select two', null],
    ['select three', 1],
  ])
})

t.test('a statement that was prepared before its library was watched is a query', async t => {
  class Early {
    readonly source = 'select early'
    get() {}
  }
  const early = new Early()
  // What the native part of better-sqlite3 exports.
  sqliteDriver.patch?.({ Statement: Early })
  const { database } = await profileOf(t, () => early.get())
  t.match(database?.queries, [{ sql: 'select early' }])
})

t.test("Node's own SQLite is watched", { skip: !hasSqlite() && 'This Node has no SQLite.' }, async t => {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite')
  const db = new DatabaseSync(':memory:')
  t.teardown(() => db.close())
  const { database } = await profileOf(t, () => {
    db.exec('create table museums (id integer, name text)')
    db.prepare('insert into museums values (?, ?)').run(1, 'Louvre')
    t.match(db.prepare('select * from museums').all(), [{ id: 1, name: 'Louvre' }]) // read
  })
  t.match(database, {
    count: 3,
    queries: [{}, { rows: 1, parameters: [1, 'Louvre'] }, { rows: 1, location: { line: lineOf('read') } }],
  })
})

function hasSqlite(): boolean {
  return process.getBuiltinModule('node:module').isBuiltin('node:sqlite')
}
