/** Passes a cached value to `use` at once, and a value that is still loading when its load has ended. */
export function whenRead<Value>(
  value: Value | Promise<Value>,
  use: (value: Value) => void,
  fail: (error: Error) => void,
): void {
  if (value instanceof Promise) value.then(use, fail)
  else use(value)
}

type Read<Values> = { -readonly [Index in keyof Values]: Awaited<Values[Index]> }

/** Like whenRead, for several values that load at the same time. */
export function whenAllRead<Values extends readonly unknown[] | []>(
  values: Values,
  use: (values: Read<Values>) => void,
  fail: (error: Error) => void,
): void {
  if (areRead(values)) use(values)
  else Promise.all(values).then(use, fail)
}

function areRead<Values extends readonly unknown[]>(values: Values | Read<Values>): values is Read<Values> {
  return !values.some(value => value instanceof Promise)
}

/** The result for a cached value at once, and a promise of the result for a value that is still loading. */
export function mapRead<Value, Result>(
  value: Value | Promise<Value>,
  use: (value: Value) => Result,
  fail: (error: Error) => Result,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(use, fail) : use(value)
}
