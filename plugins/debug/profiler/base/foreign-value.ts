/**
 * Values that others made: whatever of them is asked may throw, a getter, a trap of a proxy, a conversion to text.
 * A profile must not be lost by that.
 */

/** What a call answers, or what stands for it where it throws. */
export function attempt<Result>(call: () => Result, otherwise: Result): Result {
  try {
    return call()
  } catch {
    return otherwise
  }
}

/** A property's value; a sentence where its getter throws. */
export function read(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return '[getter threw]'
  }
}

/** Anything as text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return attempt(() => String(value), '[no text]')
}

/** Whether a value is an object or a function. */
export function isObject(value: unknown): value is object {
  return Object(value) === value
}

/** Whether it is an error, as far as it lets itself be asked. */
export function isError(value: unknown): value is Error {
  return attempt(() => value instanceof Error, false)
}

/** Its class as a person knows it: the name it was given, or that of its constructor. */
export function nameOfError(error: Error): string {
  const name = read(error, 'name')
  if (typeof name === 'string' && name !== '' && name !== 'Error' && name !== '[getter threw]') return name
  return nameOfClass(error) ?? 'Error'
}

/** What kind of thing was thrown, in a word. */
export function kindOfFailure(thrown: unknown): string {
  return isError(thrown) ? nameOfError(thrown) : typeof thrown
}

/** The name of the class a value is of; null where it has none that is text. */
function nameOfClass(value: object): string | null {
  const constructor = read(value, 'constructor')
  const name = typeof constructor === 'function' ? read(constructor, 'name') : null
  return typeof name === 'string' && name !== '' ? name : null
}
