import { tracingChannel } from 'node:diagnostics_channel'
import { isPromise } from 'node:util/types'
import { type AnyFunction, isFunction, isObject, listOf, propertyOf } from '../../../core/foreign-value.ts'
import { driverBoundary } from '../../../core/guard.ts'
import { beginQuery, type QueryCall } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import { type Driver, followPromise, hear, prototypeOf, replaceMethod, watchedMethod } from './driver.ts'

/** Commands whose arguments are keys and positions, none of them a value. */
const keysOnly =
  /^(?:B?[LR]?POP|[HSZ]?(?:SCAN|LEN)|H?EXISTS|EXPIRE|[HM]?GET|HGETALL|HMGET|H?DEL|HKEYS|TTL|PTTL|TYPE|UNLINK|DECR|INCR|DECRBY|INCRBY|KEYS|L(?:RANGE|INDEX|TRIM)|S(?:CARD|MEMBERS|POP)|Z(?:CARD|RANGE\w*|COUNT)|SELECT|PING|TIME|DBSIZE|GETDEL|RANDOMKEY|STRLEN)$/i

/** Commands that say how many keys follow their first two arguments. */
const scripts = /^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/i

/** Commands that carry nothing but secrets. */
const secretive = /^(?:AUTH|HELLO|ACL|CONFIG|MIGRATE)$/i

const hidden = '?'

/** A command with the keys that it is for. Values may be anything, also secrets, and are left out. */
function readCommand(name: string, args: readonly unknown[]): AskedQuery {
  const statement = name.toLowerCase()
  return { system: 'redis', statement, parameters: parametersOf(name, args) }
}

/** Commands that are sent together, as one. */
function readBatch(kind: string, count: number): AskedQuery {
  return { system: 'redis', statement: `${kind} of ${count} commands`, parameters: [] }
}

function parametersOf(name: string, args: readonly unknown[]): unknown[] {
  if (secretive.test(name)) return args.map(() => hidden)
  const texts = args.map(arg => (Buffer.isBuffer(arg) ? arg.toString() : String(arg)))
  if (keysOnly.test(name)) return texts
  const count = scripts.test(name) && /^\d+$/.test(texts[1] ?? '') ? 2 + Number(texts[1]) : 1
  const shown = count <= texts.length ? count : 1
  return texts.map((text, index) => (index < shown ? text : hidden))
}

const rowsIn = () => null

/** How many of the values that a command asked for are there; null for other commands. */
function foundBy(name: string, reply: unknown): number | null {
  if (/^h?exists$/i.test(name)) return Number(reply)
  if (!/^(?:m?get|hm?get)$/i.test(name)) return null
  return [reply].flat().filter(value => value != null).length
}

/** node-redis up to 5.10. Later versions have channels: see channelDriver(). */
export const redisDriver: Driver = {
  packages: ['@redis/client'],
  patch(exports) {
    const prototype = prototypeOf(exports, 'default')
    if (prototype === null || hasChannels(prototype)) return
    for (const name of commandsOf(prototype)) {
      const sending = {
        read: (args: readonly unknown[]) => readCommand(name, args.flat()),
        rowsIn: foundBy.bind(null, name),
      }
      replaceMethod(prototype, name, method => watchedMethod(method, sending))
    }
    replaceMethod(prototype, 'sendCommand', method =>
      watchedMethod(method, { read: ([args]) => readList(args), rowsIn }),
    )
    for (const [name, kind] of Object.entries({
      multiExecutor: 'multi',
      _executeMulti: 'multi',
      _executePipeline: 'pipeline',
    })) {
      const read = ([commands]: readonly unknown[]) =>
        Array.isArray(commands) ? readBatch(kind, commands.length) : null
      replaceMethod(prototype, name, method => watchedMethod(method, { read, rowsIn }))
    }
  },
}

function hasChannels(prototype: object): boolean {
  const send: unknown = Reflect.get(prototype, 'sendCommand')
  return !isFunction(send) || /\bTRACE_COMMAND\b/.test(Function.prototype.toString.call(send))
}

function readList(args: unknown): AskedQuery | null {
  return Array.isArray(args) ? readCommand(String(args[0]), args.slice(1)) : null
}

/** The methods of version 4 for one command each: `hGet`, and `HGET` for the same. None takes a callback. */
function commandsOf(prototype: object): string[] {
  if (!('commandsExecutor' in prototype)) return []
  const names = new Set(Object.getOwnPropertyNames(prototype))
  return [...names].filter(name => names.has(name.toUpperCase()) && !/^(?:multi|.*subscribe)$/i.test(name))
}

/**
 * ioredis. Its channels are of no use: a command that waits for the connection is told of late and without its caller,
 * and whoever subscribes handles rejections that the application does not.
 */
export const ioredisDriver: Driver = {
  packages: ['ioredis'],
  patch(exports) {
    for (const exported of ['default', 'Redis', 'Cluster', 'Pipeline']) {
      const prototype = prototypeOf(exports, exported)
      if (prototype === null) continue
      if ('fillResult' in prototype) replaceMethod(prototype, 'exec', exec => watchedMethod(exec, { read, rowsIn }))
      else replaceMethod(prototype, 'sendCommand', watchedSend)
      // The class of scripts, since a client may define some before it is watched.
      if ('execute' in prototype) replaceMethod(prototype, 'execute', watchedScript)
    }
  },
}

/** A transaction calls the method twice, first for its own EXEC. */
function read(_args: readonly unknown[], pipeline: object): AskedQuery | null {
  if (Number(Reflect.get(pipeline, '_transactions')) > 0) return null
  return readBatch('pipeline', Number(Reflect.get(pipeline, 'length')))
}

/** Commands that wait for a connection. */
const waiting = new WeakMap<object, QueryCall>()

/** Commands are sent again after a reconnection, when nobody takes their promise. */
const known = new WeakSet<object>()

function watchedSend(send: AnyFunction): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    const [command, stream] = args
    // A stream collects the commands of a pipeline, which are told together.
    const isNew = stream === undefined && isObject(command) && !known.has(command)
    const call = isNew ? begin(command, watched) : null
    if (isNew) known.add(command)
    if (isObject(command)) tellOfWait(propertyOf(this, 'status'), command, call)
    const result: unknown = Reflect.apply(send, this, args)
    if (call === null || isHeard(command, call) || !isPromise(result)) return result
    // A library such as BullMQ has lost its caller, and finds it again when its own promise is awaited.
    return followPromise(
      result,
      value => call.end(foundBy(call.query.statement, value), value),
      error => call.fail(error),
    )
  }
}

/** A client without a connection keeps its commands, and sends them again once it is ready. */
function tellOfWait(status: unknown, command: object, call: QueryCall | null): void {
  driverBoundary.guard(() => {
    if (status === 'ready') {
      waiting.get(command)?.goesOn()
      waiting.delete(command)
    } else if (call !== null && status !== 'connect') {
      call.waits()
      waiting.set(command, call)
    }
  }, undefined)
}

/** With a callback, nobody handles a promise that follows the command's. That of a script does not tell of its own. */
function isHeard(command: unknown, { query }: QueryCall): boolean {
  if (query.location !== null) return true
  const isScript = String(propertyOf(command, 'name')).startsWith('eval')
  return isScript ? !isAwaitedScript : isFunction(propertyOf(command, 'callback'))
}

let isAwaitedScript = false

function watchedScript(execute: AnyFunction): AnyFunction {
  return function watched(this: unknown, ...args: unknown[]): unknown {
    isAwaitedScript = !isFunction(args.at(-1))
    try {
      return Reflect.apply(execute, this, args)
    } finally {
      isAwaitedScript = false
    }
  }
}

function begin(command: object, below: AnyFunction): QueryCall | null {
  return driverBoundary.guard(() => {
    const args: unknown = Reflect.get(command, 'args')
    const name: unknown = Reflect.get(command, 'name')
    const call = typeof name === 'string' ? beginQuery(readCommand(name, listOf(args)), below) : null
    if (call === null || !isHeard(command, call)) return call
    hear(command, 'resolve', value => call.end(foundBy(call.query.statement, value), value))
    hear(command, 'reject', error => call.fail(error))
    return call
  }, null)
}

/** Tracing channels, and the query that the start of each tells of; null if it is none or told by another one. */
const queriesOf: Record<string, (context: object) => AskedQuery | null> = {
  'node-redis:command': context => {
    const [name, ...args] = listOf(propertyOf(context, 'args'))
    // The commands of a batch are told together.
    return 'batchMode' in context ? null : readCommand(String(name), args)
  },
  'node-redis:batch': context =>
    readBatch(String(propertyOf(context, 'batchMode')).toLowerCase(), Number(propertyOf(context, 'batchSize'))),
}

/** All libraries that tell of their queries on tracing channels, fully, and do nothing differently for it. */
export const channelDriver: Driver = {
  subscribe() {
    for (const [name, read] of Object.entries(queriesOf)) follow(name, read)
  },
}

function follow(name: string, read: (context: object) => AskedQuery | null): void {
  const calls = new WeakMap<object, QueryCall>()
  /** An error thrown in a subscriber would end the process. */
  const tell = (context: unknown, end: (call: QueryCall) => void) =>
    driverBoundary.guard(() => {
      const call = isObject(context) ? calls.get(context) : undefined
      if (call !== undefined) end(call)
    }, undefined)
  tracingChannel(name).subscribe({
    start: function started(context: unknown) {
      driverBoundary.guard(() => {
        if (!isObject(context)) return
        const asked = read(context)
        const call = asked === null ? null : beginQuery(asked, started)
        if (call !== null) calls.set(context, call)
      }, undefined)
    },
    end() {},
    asyncStart() {},
    asyncEnd: context =>
      tell(context, call => {
        const result = propertyOf(context, 'result')
        call.end(foundBy(call.query.statement, result), result)
      }),
    error: context => tell(context, call => call.fail(propertyOf(context, 'error'))),
  })
}
