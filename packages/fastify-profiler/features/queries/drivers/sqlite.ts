import { type AnyFunction, isObject } from '../../../core/foreign-value.ts'
import { beginQuery } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import { classItself, type Driver, prototypeOf, replaceMethod, toldMethod, watchedMethod } from './driver.ts'

/** better-sqlite3 and Node's own SQLite. Both answer at once, and prepare every statement by the same names. */
export const sqliteDriver: Driver = {
  packages: ['better-sqlite3', 'node:sqlite'],
  patch(exports) {
    for (const prototype of [classItself(exports), prototypeOf(exports, 'DatabaseSync')]) {
      if (prototype === null || !('prepare' in prototype)) continue
      replaceMethod(prototype, 'prepare', watchedPrepare)
      replaceMethod(prototype, 'exec', exec => watchedMethod(exec, { read: readText, rowsIn: () => null }))
    }
    // Of better-sqlite3, its native part exports the class, once a database is open. Statements may be older.
    watchStatements(prototypeOf(exports, 'Statement') ?? prototypeOf(exports, 'StatementSync'))
  },
}

const databases = new WeakMap<object, object>()

function watchedPrepare(prepare: AnyFunction): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    let statement: unknown
    try {
      statement = Reflect.apply(prepare, this, args)
    } catch (error) {
      // A statement that is wrong fails before it can be a query.
      const asked = readText(args, this)
      if (asked !== null) beginQuery(asked, watched)?.fail(error)
      throw error
    }
    if (!isObject(statement)) return statement
    databases.set(statement, this)
    watchStatements(statement)
    return statement
  }
}

const rowsOf: Record<string, (result: unknown) => number | null> = {
  all: result => (Array.isArray(result) ? result.length : null),
  get: result => (result === undefined ? 0 : 1),
  run: result => (isObject(result) ? Number(Reflect.get(result, 'changes')) : null),
  // Its rows are read one by one, between other work.
  iterate: () => null,
}

function watchStatements(owner: object | null): void {
  replaceMethod(owner, 'bind', bind => toldMethod(bind, (statement, values) => bound.set(statement, values)))
  for (const [name, rowsIn] of Object.entries(rowsOf)) {
    replaceMethod(owner, name, method => watchedMethod(method, { read: readStatement, rowsIn }))
  }
}

/** The values that were bound to a statement for good. */
const bound = new WeakMap<object, readonly unknown[]>()

function readText([sql]: readonly unknown[], database: object): AskedQuery | null {
  return typeof sql === 'string' ? { system: 'sqlite', statement: sql, parameters: [], connection: database } : null
}

/** Values are bound one by one, as lists, or as objects by names. */
function readStatement(args: readonly unknown[], statement: object): AskedQuery | null {
  const sql: unknown = Reflect.get(statement, 'source') ?? Reflect.get(statement, 'sourceSQL')
  if (typeof sql !== 'string') return null
  // better-sqlite3 begins its transactions past its own `prepare`.
  const own: unknown = Reflect.get(statement, 'database')
  const connection = isObject(own) ? own : (databases.get(statement) ?? statement)
  return { system: 'sqlite', statement: sql, parameters: (bound.get(statement) ?? args).flat(1), connection }
}
