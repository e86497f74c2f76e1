import { errorMonitor, EventEmitter } from 'node:events'
import { isPromise } from 'node:util/types'
import { currentRecorder, recorderScope } from '../current-recorder.ts'
import { isFunction, type AnyFunction } from '../../base/foreign-value.ts'
import { driverBoundary } from '../driver-boundary.ts'
import { beginQuery, type QueryCall } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import type { Recorder } from '../recorder.ts'

/** How a method of a library sends a query. */
export interface Sending {
  /** Reads the query from the method's arguments. @returns null for a call that sends none */
  read(args: readonly unknown[], self: object): AskedQuery | null
  /** Whether a function as the last argument is a callback. Default: false. */
  takesCallback?: boolean
  /** The number of rows in a result; null if it is unknown. */
  rowsIn(result: unknown): number | null
}

/**
 * Makes a method that records the queries which another one sends. The caller gets what the method returns, or what it
 * throws. The query ends with its callback, its promise or its stream.
 */
export function watchedMethod(method: AnyFunction, { read, rowsIn, takesCallback = false }: Sending): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    const recorder = currentRecorder()
    if (recorder === undefined || recorder.finished) return Reflect.apply(method, this, args)
    const asked = driverBoundary.guard(() => read(args, this), null)
    const call = asked === null ? null : beginQuery(asked, watched)
    if (call === null) return Reflect.apply(method, this, args)
    const end = (result: unknown) => call.end(driverBoundary.guard(() => rowsIn(result), null))
    const tell = (error: unknown, result: unknown) => (error ? call.fail(error) : end(result))
    const hasCallback = takesCallback && followCallback(args, recorder, tell)
    let result: unknown
    try {
      result = Reflect.apply(method, this, args)
    } catch (error) {
      call.fail(error)
      throw error
    }
    return hasCallback ? result : followResult(result, call, end)
  }
}

/** Tells of a callback's arguments before it is called. @returns false if the last argument is no function */
export function followCallback(
  args: unknown[],
  recorder: Recorder,
  tell: (error: unknown, result: unknown) => void,
): boolean {
  const callback = args.at(-1)
  if (!isFunction(callback)) return false
  args[args.length - 1] = function (this: unknown, ...results: unknown[]): unknown {
    tell(results[0], results[1])
    // Many libraries call back in the scope of whoever opened the connection.
    const resume = (): unknown => Reflect.apply(callback, this, results)
    return currentRecorder() === recorder ? resume() : recorderScope.run(recorder, resume)
  }
  return true
}

function followResult(result: unknown, call: QueryCall, end: (result: unknown) => void): unknown {
  if (isPromise(result)) return followPromise(result, end, error => call.fail(error))
  if (isEmitter(result)) followEvents(result, call)
  // What a pool or a query builder sends ends with the driver below.
  else if (!call.isDelegated) end(result)
  return result
}

/** Tells of a promise's end. The promise that it returns must be passed on, or rejections would count as handled. */
export function followPromise(
  promise: PromiseLike<unknown>,
  resolved: (result: unknown) => void,
  rejected: (error: unknown) => void,
): PromiseLike<unknown> {
  return promise.then(
    result => {
      resolved(result)
      return result
    },
    (error: unknown) => {
      rejected(error)
      throw error
    },
  )
}

/** A stream or cursor ends by itself. Nothing of it is read, and an error that nobody handles stays one. */
function followEvents(emitter: EventEmitter, call: QueryCall): void {
  emitter.once('end', () => call.end(null))
  emitter.once('close', () => call.end(null))
  emitter.once(errorMonitor, (error: unknown) => call.fail(error))
}

function isEmitter(value: unknown): value is EventEmitter {
  return value instanceof EventEmitter
}
