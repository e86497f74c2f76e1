import { isPromise } from 'node:util/types'

/** Calls `there` with a value: at once, or if it is a promise, when it resolves. `failed` is called if it rejects. */
export function whenThere<Value, Result>(
  value: Value | Promise<Value>,
  there: (value: Value) => Result,
  failed?: (error: unknown) => Result,
): Result | Promise<Result> {
  return isPromise(value) ? value.then(there, failed) : there(value)
}
