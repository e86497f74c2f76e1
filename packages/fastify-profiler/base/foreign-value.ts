// Reads values that the application made. Getters, proxy traps and conversions to text may throw, and no profile may be
// lost because of it.

/** Returns the call's result, or `otherwise` if it throws. */
export function attempt<Result>(call: () => Result, otherwise: Result): Result {
  try {
    return call()
  } catch {
    return otherwise
  }
}

/** A property's value, or '[getter threw]'. */
export function read(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return '[getter threw]'
  }
}

/** Converts any value to text; '[no text]' if that throws. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return attempt(() => String(value), '[no text]')
}

/** Whether a value is an object or a function. */
export function isObject(value: unknown): value is object {
  return Object(value) === value
}

/** Whether a value is an object and no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value)
}

/** A property of any value; undefined if that is no object. Throws what a getter throws. */
export function propertyOf(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined
}

/** The value if it is a list, or else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether a value is an error; false if checking it throws. */
export function isError(value: unknown): value is Error {
  return attempt(() => value instanceof Error, false)
}

/** An error's `name` if one was set, otherwise the name of its class. */
export function nameOfError(error: Error): string {
  const name = read(error, 'name')
  if (typeof name === 'string' && name !== '' && name !== 'Error' && name !== '[getter threw]') return name
  return nameOfClass(error) ?? 'Error'
}

/** The name of a thrown error, or the type of any other thrown value. */
export function kindOfFailure(thrown: unknown): string {
  return isError(thrown) ? nameOfError(thrown) : typeof thrown
}

/** The name of a value's class; null if it is empty or not a string. */
function nameOfClass(value: object): string | null {
  const constructor = read(value, 'constructor')
  const name = typeof constructor === 'function' ? read(constructor, 'name') : null
  return typeof name === 'string' && name !== '' ? name : null
}

export type AnyFunction = (...args: never[]) => unknown

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}
