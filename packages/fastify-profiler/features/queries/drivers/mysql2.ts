import { isObject, propertyOf } from '../../../core/foreign-value.ts'
import type { PoolCounts } from '../../../core/profile.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import { classItself, type Driver, numberIn, replaceMethod, watchedConnect, watchedMethod } from './driver.ts'

/**
 * mysql2, with callbacks and with promises, which call the same methods. Its channels are of no use: `mysql2:query`
 * tells of the statement with the values in it, so that no two are equal, and whoever subscribes handles errors that
 * the application does not.
 */
export const mysql2Driver: Driver = {
  packages: ['mysql2'],
  patch(exports) {
    const prototype = classItself(exports)
    // The classes with promises call those with callbacks.
    if (prototype === null || !('promise' in prototype || 'addCommand' in prototype)) return
    const isPool = 'getConnection' in prototype
    const sending = {
      read: (args: readonly unknown[], self: object) => read(args, isPool ? null : self),
      rowsIn,
      takesCallback: true,
    }
    replaceMethod(prototype, 'query', query => watchedMethod(query, sending))
    replaceMethod(prototype, 'execute', execute => watchedMethod(execute, sending))
    if (isPool) replaceMethod(prototype, 'getConnection', connect => watchedConnect(connect, countsOf))
  },
}

/** Its queues have no public names. */
function countsOf(pool: object): PoolCounts {
  const config = propertyOf(pool, 'config')
  const most = numberIn(config, 'connectionLimit')
  const after = numberIn(config, 'idleTimeout')
  return {
    open: numberIn(pool, '_allConnections'),
    free: numberIn(pool, '_freeConnections'),
    // Zero is no limit.
    most: most === 0 ? Infinity : most,
    waiting: numberIn(pool, '_connectionQueue'),
    closing: numberIn(config, 'maxIdle') < most ? { option: 'idleTimeout', after } : null,
  }
}

/** A query is a text with values, or options with both. A pool makes options of a text. */
function read([first, second]: readonly unknown[], connection: object | null): AskedQuery | null {
  const sql: unknown = isObject(first) ? Reflect.get(first, 'sql') : first
  if (typeof sql !== 'string') return null
  const values: unknown = propertyOf(first, 'values') ?? second
  return {
    system: 'mysql',
    statement: sql,
    parameters: parametersOf(values),
    connection,
  }
}

/** Values are a list, an object by names, or a single one. */
function parametersOf(values: unknown): readonly unknown[] {
  if (Array.isArray(values)) return values
  return values === undefined || typeof values === 'function' ? [] : [values]
}

function rowsIn(result: unknown): number | null {
  if (Array.isArray(result)) return result.length
  const changed: unknown = propertyOf(result, 'affectedRows')
  return typeof changed === 'number' ? changed : null
}
