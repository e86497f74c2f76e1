import type { Duplex } from 'node:stream'
import type { ExplainClient } from '../../../core/feature.ts'
import { isFunction, isObject, listOf, propertyOf } from '../../../core/foreign-value.ts'
import type { PoolCounts } from '../../../core/profile.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import {
  classItself,
  connectionTimeout,
  type Driver,
  numberIn,
  rememberServer,
  replaceMethod,
  toldMethod,
  watchedConnect,
  watchedMethod,
} from './driver.ts'

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
      read(args: readonly unknown[], self: object) {
        if (!isPool) rememberConnection(self)
        return read(args, isPool ? undefined : self)
      },
      rowsIn,
      takesCallback: true,
      idleSocket,
    }
    replaceMethod(prototype, 'query', query => watchedMethod(query, sending))
    replaceMethod(prototype, 'execute', execute => watchedMethod(execute, sending))
    if (isPool) replaceMethod(prototype, 'getConnection', connect => watchedConnect(connect, countsOf))
    else replaceMethod(prototype, 'prepare', prepare => toldMethod(prepare, watchStatement))
  },
}

/** The class of statements is exported nowhere, so that it is patched when the first is prepared. */
function watchStatement(_connection: object, args: unknown[]): void {
  const done = args[1]
  if (!isFunction(done)) return
  args[1] = toldMethod(done, (_, [, statement]) =>
    replaceMethod(statement, 'execute', execute => watchedMethod(execute, executing)),
  )
}

const executing = {
  read([values]: readonly unknown[], statement: object) {
    const connection = propertyOf(statement, '_connection')
    return read([{ sql: propertyOf(statement, 'query'), values }], isObject(connection) ? connection : undefined)
  },
  rowsIn,
  takesCallback: true,
}

/** A connection says that it is open within its first command. */
function idleSocket(connection: object): unknown {
  const current = propertyOf(connection, '_command')
  const isOver = (propertyOf(current, 'handshake') ?? NaN) === propertyOf(connection, '_handshakePacket')
  const isIdle = (current == null || isOver) && numberIn(connection, '_commands') === 0
  return isIdle ? propertyOf(connection, 'stream') : undefined
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

/** A connection of mysql2, as far as the profiler uses one of its own. */
interface OwnConnection {
  query: (text: string, values: readonly unknown[], done: (error: Error | null, rows: unknown) => void) => void
  execute: OwnConnection['query']
  destroy: () => void
  stream: Duplex
  on: (event: 'error', listen: () => void) => unknown
}

const seen = new WeakSet<object>()

function rememberConnection(connection: object): void {
  if (seen.has(connection)) return
  seen.add(connection)
  const config = propertyOf(connection, 'config')
  // The connections of a pool are a class of their own.
  const Made: unknown = '_pool' in connection ? Object.getPrototypeOf(connection.constructor) : connection.constructor
  // A stream of the application's own leads elsewhere than these options.
  if (!isObject(config) || !isConnectionClass(Made) || propertyOf(config, 'stream') !== undefined) return
  const { host, port, database, socketPath } = { host: '', port: '', database: '', socketPath: undefined, ...config }
  rememberServer({
    system: 'mysql',
    name: `${socketPath ?? `${host}:${port}`}/${database}`,
    connect: async () =>
      clientOf(new Made({ config: { ...config, connectTimeout: connectionTimeout, rowsAsArray: false } })),
  })
}

function isConnectionClass(value: unknown): value is new (options: object) => OwnConnection {
  return isFunction(value)
}

/** Sends nothing before it is connected. */
function clientOf(connection: OwnConnection): ExplainClient {
  connection.on('error', () => {})
  return {
    query: ({ text, values = [], queryMode }) =>
      new Promise((resolve, reject) => {
        // Only prepared statements have their values apart from their text, and are never several in one.
        const method = queryMode === 'extended' ? 'execute' : 'query'
        connection[method](text, values, (error, rows) =>
          error ? reject(error) : resolve({ rows: [...listOf(rows)] }),
        )
      }),
    release() {
      connection.destroy()
      // Which only says goodbye: a server that does not answer would keep the socket open.
      connection.stream.destroy()
    },
  }
}

/** A query is a text with values, or options with both. A pool makes options of a text. */
function read([first, second]: readonly unknown[], connection?: object): AskedQuery | null {
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
