import { Socket } from 'node:net'
import { isFunction, isObject, listOf, propertyOf } from '../../../core/foreign-value.ts'
import type { ExplainClient } from '../../../core/feature.ts'
import type { PoolCounts } from '../../../core/profile.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import {
  classItself,
  connectionTimeout,
  type Driver,
  numberIn,
  prototypeOf,
  rememberServer,
  replaceMethod,
  watchedConnect,
  watchedMethod,
} from './driver.ts'

/** node-postgres: its clients, and its pools, whose connections queries wait for. It publishes no channel. */
export const pgDriver: Driver = {
  packages: ['pg', 'pg-pool'],
  patch(exports) {
    const sent = {
      read(args: readonly unknown[], self: object) {
        rememberClient(self)
        return read(args, self)
      },
      rowsIn,
      takesCallback: true,
      idleSocket,
    }
    const asked = { read: (args: readonly unknown[]) => read(args), rowsIn, takesCallback: true }
    replaceMethod(prototypeOf(exports, 'Client'), 'query', query => watchedMethod(query, sent))
    // The package pg-pool is the class itself, and so are inner modules of pg.
    const itself = classItself(exports)
    const pool = prototypeOf(exports, 'Pool') ?? (itself !== null && 'totalCount' in itself ? itself : null)
    replaceMethod(pool, 'query', query => watchedMethod(query, asked))
    replaceMethod(pool, 'connect', connect => watchedConnect(connect, countsOf))
  },
}

/** A client that has nothing to send calls back before it is ready for its first query. A pipeline mixes answers. */
function idleSocket(client: object): unknown {
  const is = (name: string, value: boolean) => propertyOf(client, name) === value
  const isReady = is('readyForQuery', true) || (is('_connected', true) && !is('hasExecuted', true))
  // Older versions have another name for it, which newer ones warn of.
  const queue = propertyOf(client, '_queryQueue') ?? propertyOf(client, 'queryQueue')
  if (!isReady || is('pipeline', true) || listOf(queue).length > 0) return undefined
  return propertyOf(propertyOf(client, 'connection'), 'stream')
}

function countsOf(pool: object): PoolCounts {
  const options = propertyOf(pool, 'options')
  const after = numberIn(options, 'idleTimeoutMillis')
  return {
    open: numberIn(pool, 'totalCount'),
    free: numberIn(pool, 'idleCount'),
    most: numberIn(options, 'max'),
    waiting: numberIn(pool, 'waitingCount'),
    closing: after > 0 && !(numberIn(options, 'min') > 0) ? { option: 'idleTimeoutMillis', after } : null,
  }
}

/** A client of node-postgres, as far as the profiler uses one of its own. */
interface OwnClient {
  connect: () => Promise<unknown>
  query: (query: object) => Promise<{ rows: unknown[] }>
  end: () => Promise<unknown>
  on: (event: 'error', listen: () => void) => unknown
}

const seen = new WeakSet<object>()

function rememberClient(client: object): void {
  if (seen.has(client)) return
  seen.add(client)
  const { constructor: Client } = client
  const parameters = propertyOf(client, 'connectionParameters')
  // A stream of the application's own leads elsewhere than these parameters.
  const isPlain = propertyOf(propertyOf(client, 'connection'), 'stream') instanceof Socket
  if (!isPlain || !isObject(parameters) || !isClientClass(Client)) return
  // Node-postgres hides these two from copies.
  const hidden = { password: propertyOf(client, 'password'), ssl: propertyOf(client, 'ssl') }
  const { host, port, database } = { host: '', port: '', database: '', ...parameters }
  const name = `${host}:${port}/${database}`
  const all = { ...parameters, ...hidden, connectionTimeoutMillis: connectionTimeout }
  rememberServer({ system: 'postgresql', name, connect: () => connected(new Client(all)) })
}

async function connected(client: OwnClient): Promise<ExplainClient> {
  // An idle connection that breaks must not end the process.
  client.on('error', () => {})
  const end = () => {
    client.end().catch(() => {})
  }
  try {
    await client.connect()
  } catch (error) {
    end()
    throw error
  }
  return { query: query => client.query(query), release: end }
}

function isClientClass(value: unknown): value is new (options: object) => OwnClient {
  return isFunction(value)
}

/** A query is a text with values, a configuration with both, or an object that submits itself. */
function read([first, second]: readonly unknown[], connection?: object): AskedQuery | null {
  const config: object = isObject(first) ? first : { text: first, values: second }
  const text = textOf(config)
  if (text === null) return null
  const values: unknown = Reflect.get(config, 'values') ?? second
  const parameters = listOf(values)
  return { system: 'postgresql', statement: text, parameters, connection }
}

/** A cursor or a stream has its text in a part of itself. A prepared statement may only have a name. */
function textOf(config: object): string | null {
  const cursor: unknown = Reflect.get(config, 'cursor')
  const text: unknown = Reflect.get(config, 'text') ?? Reflect.get(config, 'name')
  if (typeof text === 'string') return text
  return isObject(cursor) ? textOf(cursor) : null
}

/** A text with several statements has a list of results. */
function rowsIn(result: unknown): number | null {
  if (Array.isArray(result)) return result.reduce((sum: number, one) => sum + (rowsIn(one) ?? 0), 0)
  const count: unknown = propertyOf(result, 'rowCount')
  return typeof count === 'number' ? count : null
}
