import { isFunction } from '../../base/foreign-value.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import type { Driver } from './driver.ts'
import { readBatch, readCommand } from './redis-command.ts'
import { prototypeOf, replaceMethod } from './replace-method.ts'
import { watchedMethod } from './run-query.ts'

const rowsIn = () => null

/** node-redis up to 5.10. Later versions have channels: see channels.ts. */
export const redisDriver: Driver = {
  packages: ['@redis/client'],
  patch(exports) {
    const prototype = prototypeOf(exports, 'default')
    if (prototype === null || hasChannels(prototype)) return
    for (const name of commandsOf(prototype)) {
      replaceMethod(prototype, name, method => watchedMethod(method, { read: args => readCommand(name, args), rowsIn }))
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
