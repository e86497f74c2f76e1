import { isFunction, isObject, propertyOf } from '../../../core/foreign-value.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import {
  type Driver,
  outsideRequests,
  prototypeOf,
  replaceMethod,
  tarnCounts,
  toldMethod,
  watchedConnect,
  watchedMethod,
} from './driver.ts'

/** tedious sends the queries, and mssql on it knows their caller. mssql's own channels tell no parameters. */
export const tediousDriver: Driver = {
  packages: ['tedious', 'mssql'],
  patch(exports) {
    const connection = prototypeOf(exports, 'Connection')
    // mssql's inner module exports `driver`, and classes of the same names whose methods only check.
    const mssql = propertyOf(exports, 'driver') === undefined ? exports : null
    const request = prototypeOf(mssql, 'Request')
    const pool = prototypeOf(mssql, 'ConnectionPool')
    for (const [name, prefix] of Object.entries(requests)) {
      watch(connection, name, (args, self) => readRequest(prefix, args, self))
    }
    for (const [name, statement] of Object.entries(transactions)) {
      watch(connection, `${name}Transaction`, (_args, self) => ({ ...asked(statement), connection: self }))
      watch(prototypeOf(mssql, 'Transaction'), `_${name}`, () => asked(statement))
    }
    watch(prototypeOf(mssql, 'PreparedStatement'), '_prepare', ([text], self) =>
      asked(requests.prepare + String(typeof text === 'string' ? text : propertyOf(self, 'statement'))),
    )
    watch(request, '_query', ([text], self) => asked(String(text), valuesIn(self), self))
    watch(request, '_execute', ([name], self) => readProcedure(String(name), self))
    watch(request, '_bulk', ([table]) => asked(requests.execBulkLoad + String(propertyOf(table, 'path'))))
    replaceMethod(request, '_setCurrentRequest', set => toldMethod(set, passAsked))
    replaceMethod(pool, 'acquire', acquire => watchedConnect(acquire, tarnCounts))
    // Its pool asks each connection whether it is alive.
    for (const name of ['_acquire', 'release']) replaceMethod(pool, name, outsideRequests)
  },
}

/** The methods of a connection that send a request, and what its text is sent as. */
const requests = {
  execSql: '',
  execSqlBatch: '',
  execute: '',
  prepare: 'prepare ',
  unprepare: 'unprepare ',
  callProcedure: 'exec ',
  execBulkLoad: 'insert bulk ',
}

const transactions = { begin: 'begin transaction', commit: 'commit', rollback: 'rollback', save: 'savepoint' }

type Read = (args: readonly unknown[], self: object) => AskedQuery | null

function watch(owner: object | null, name: string, read: Read): void {
  const rowsIn = (result: unknown) => (typeof result === 'number' ? result : null)
  // A connection refuses a request while another one runs.
  const idleSocket = (self: object) => propertyOf(self, 'socket')
  replaceMethod(owner, name, send => watchedMethod(send, { read, rowsIn, callbackIn, idleSocket }))
}

/** A request has its callback. For a transaction, it is the first argument of tedious, and the last of mssql. */
function callbackIn(args: readonly unknown[]): readonly [owner: object, name: PropertyKey] {
  const [first] = args
  if (isObject(first) && 'callback' in first) return [first, 'callback']
  return [args, isFunction(first) ? 0 : args.length - 1]
}

function readRequest(prefix: string, [request, given]: readonly unknown[], connection: object): AskedQuery | null {
  const text = propertyOf(request, 'sqlTextOrProcedure') ?? propertyOf(request, 'table')
  // A bulk load begins with a request of its own.
  if (!isObject(request) || typeof text !== 'string' || text.startsWith(requests.execBulkLoad)) return null
  return { ...(askedBy.get(request) ?? asked(prefix + text, valuesIn(request, given))), connection }
}

/** The steps of a prepared statement of mssql are procedures, such as sp_prepare. */
function readProcedure(name: string, request: object): AskedQuery {
  const parent = propertyOf(request, 'parent')
  const statement = propertyOf(parent, 'statement')
  const values = valuesIn(request)
  if (typeof statement !== 'string') return asked(requests.callProcedure + name, values, request)
  const step = name === 'sp_execute' ? '' : `${name.replace('sp_', '')} `
  return asked(step + statement, valuesIn(parent, values[0] ?? {}), request)
}

/** What requests of mssql ask for, and so do those of tedious that they make: their text may be another. */
const askedBy = new WeakMap<object, AskedQuery>()

function passAsked(request: object, [current]: readonly unknown[]): void {
  const known = askedBy.get(request)
  if (known !== undefined && isObject(current)) askedBy.set(current, known)
  askedBy.delete(request)
}

function asked(statement: string, parameters: readonly unknown[] = [], request?: object): AskedQuery {
  const query = { system: 'mssql', statement, parameters }
  if (request !== undefined) askedBy.set(request, query)
  return query
}

/** The values of parameters by their names. Those of a prepared statement are declared without a value. */
function valuesIn(owner: unknown, given?: unknown): readonly unknown[] {
  const parameters: unknown[] = Object.values(Object(propertyOf(owner, 'parameters')) as object)
  const named = parameters.flatMap(parameter => {
    const name = String(propertyOf(parameter, 'name'))
    const value = given === undefined ? propertyOf(parameter, 'value') : propertyOf(given, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return named.length === 0 ? [] : [Object.fromEntries(named)]
}
