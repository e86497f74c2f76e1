import { isPromise } from 'node:util/types'

/** Hands on a value that is there or promised: at once if it is there, and else when its promise is settled. */
export function whenThere<Value, Result>(
  value: Value | Promise<Value>,
  there: (value: Value) => Result,
  failed?: (error: unknown) => Result,
): Result | Promise<Result> {
  return isPromise(value) ? value.then(there, failed) : there(value)
}
