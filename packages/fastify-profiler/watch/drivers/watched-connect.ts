import { isObject, type AnyFunction } from '../../base/foreign-value.ts'
import { currentRecorder } from '../current-recorder.ts'
import { beginWait } from '../queries.ts'
import { followCallback, followPromise } from './run-query.ts'

/** Makes a method that records how long a request waits for the connection that another one gets from a pool. */
export function watchedConnect(connect: AnyFunction): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    const recorder = currentRecorder()
    const wait = beginWait(watched)
    if (recorder === undefined || wait === null) return Reflect.apply(connect, this, args)
    const end = (connection: unknown) => {
      if (isObject(connection)) wait.end(connection)
    }
    const hasCallback = followCallback(args, recorder, (_error, connection) => end(connection))
    const result: unknown = Reflect.apply(connect, this, args)
    return hasCallback || !(result instanceof Promise) ? result : followPromise(result, end, () => {})
  }
}
