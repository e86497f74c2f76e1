import { type AnyFunction, isFunction, listOf, propertyOf } from '../../../core/foreign-value.ts'
import { lineOfBuilder, rememberBuilder } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import {
  classItself,
  type Driver,
  outsideRequests,
  replaceMethod,
  tarnCounts,
  toldMethod,
  watchedConnect,
  watchedMethod,
} from './driver.ts'

/** Knex sends a query when it is awaited, where its caller is lost: the caller is the line that begins to build it. */
export const knexDriver: Driver = {
  packages: ['knex'],
  patch(exports) {
    const prototype = classItself(exports)
    if (prototype === null) return
    if ('queryBuilder' in prototype && 'runner' in prototype) {
      for (const name of ['queryBuilder', 'raw', 'schemaBuilder']) replaceMethod(prototype, name, watchedMake)
      // A copy of a query is not made by the client. The line that sends it is known if it calls `then` itself.
      replaceMethod(prototype, 'runner', run =>
        toldMethod(run, (_client, [builder], below) => rememberBuilder(builder, below)),
      )
      replaceMethod(prototype, 'acquireConnection', acquire => watchedConnect(acquire, tarnCounts))
      // It asks each new connection for its version, within the wait of a request.
      replaceMethod(prototype, 'acquireRawConnection', outsideRequests)
    }
    if ('queryArray' in prototype) {
      replaceMethod(prototype, 'query', query => watchedMethod(query, { read, rowsIn: () => null }))
    }
  },
}

function watchedMake(make: AnyFunction): AnyFunction {
  return function remembered(this: object, ...args: unknown[]): unknown {
    const builder: unknown = Reflect.apply(make, this, args)
    rememberBuilder(builder, remembered)
    return builder
  }
}

const systems: Record<string, string> = { 'better-sqlite3': 'sqlite', sqlite3: 'sqlite', mariadb: 'mysql' }

function read([query]: readonly unknown[], runner: object): AskedQuery | null {
  const sql = propertyOf(query, 'sql')
  if (typeof sql !== 'string') return null
  const client = propertyOf(runner, 'client')
  const dialect = String(propertyOf(client, 'dialect'))
  return {
    system: systems[dialect] ?? dialect,
    statement: statementOf(sql, client),
    parameters: listOf(propertyOf(query, 'bindings')),
    location: lineOfBuilder(propertyOf(runner, 'builder')),
  }
}

/** The statement as it is sent: PostgreSQL's placeholders have numbers. */
function statementOf(sql: string, client: unknown): string {
  const position = propertyOf(client, 'positionBindings')
  return isFunction(position) ? String(Reflect.apply(position, client, [sql])) : sql
}
