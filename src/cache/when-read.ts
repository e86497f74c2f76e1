/** Passes a cached value to `use` at once, and a value that is still loading when its load has ended. */
export function whenRead<Value>(
  value: Value | Promise<Value>,
  use: (value: Value) => void,
  fail: (error: Error) => void,
): void {
  if (value instanceof Promise) value.then(use, fail)
  else use(value)
}
