import { isObject, listOf, isFunction, type AnyFunction } from '../../base/foreign-value.ts'
import { beginQuery } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import type { Driver } from './driver.ts'
import { readBatch, readCommand } from './redis-command.ts'
import { prototypeOf, replaceMethod } from './replace-method.ts'
import { watchedMethod } from './run-query.ts'
import { driverBoundary } from '../driver-boundary.ts'

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
      const [name, replace] = 'fillResult' in prototype ? batches : commands
      replaceMethod(prototype, name, replace)
    }
  },
}

/** A transaction calls the method twice, first for its own EXEC. */
function read(_args: readonly unknown[], pipeline: object): AskedQuery | null {
  if (Number(Reflect.get(pipeline, '_transactions')) > 0) return null
  return readBatch('pipeline', Number(Reflect.get(pipeline, 'length')))
}

const batches = ['exec', (exec: AnyFunction) => watchedMethod(exec, { read, rowsIn: () => null })] as const
const commands = ['sendCommand', watchedSend] as const

/** Commands are sent again after a reconnection. */
const known = new WeakSet<object>()

function watchedSend(send: AnyFunction): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    const [command, stream] = args
    // A stream collects the commands of a pipeline, which are told together.
    if (stream === undefined && isObject(command) && !known.has(command)) begin(command, watched)
    return Reflect.apply(send, this, args)
  }
}

function begin(command: object, below: AnyFunction): void {
  driverBoundary.guard(() => {
    const args: unknown = Reflect.get(command, 'args')
    const name: unknown = Reflect.get(command, 'name')
    if (typeof name !== 'string') return
    const call = beginQuery(readCommand(name, listOf(args)), below)
    if (call === null) return
    known.add(command)
    follow(command, 'resolve', () => call.end(null))
    follow(command, 'reject', error => call.fail(error))
  }, undefined)
}

/** A command has the functions that settle its promise. The promise itself stays as it is, handled or not. */
function follow(command: object, name: 'resolve' | 'reject', tell: (value: unknown) => void): void {
  const settle: unknown = Reflect.get(command, name)
  if (!isFunction(settle)) return
  Reflect.set(command, name, function (this: unknown, ...values: unknown[]): unknown {
    tell(values[0])
    const settled: unknown = Reflect.apply(settle, this, values)
    return settled
  })
}
