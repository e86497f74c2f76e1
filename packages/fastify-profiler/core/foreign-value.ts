import type { ServerResponse } from 'node:http'
import { isNativeError, isPromise } from 'node:util/types'

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
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

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

/** Whether a value is an error, also one of another realm, such as that of jest; false if checking it throws. */
export function isError(value: unknown): value is Error {
  return isNativeError(value) || attempt(() => value instanceof Error, false)
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

function nameOfClass(value: object): string | null {
  const constructor = read(value, 'constructor')
  const name = typeof constructor === 'function' ? read(constructor, 'name') : null
  return typeof name === 'string' && name !== '' ? name : null
}

export type AnyFunction = (...args: never[]) => unknown

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}

/** Calls `there` with a value: at once, or if it is a promise, when it resolves. `failed` is called if it rejects. */
export function whenThere<Value, Result>(
  value: Value | Promise<Value>,
  there: (value: Value) => Result,
  failed?: (error: unknown) => Result,
): Result | Promise<Result> {
  return isPromise(value) ? value.then(there, failed) : there(value)
}

/** A response of HTTP/2 has no spellings: its names are in lower case. */
type Response = ServerResponse & { getRawHeaderNames?: () => string[] }

/** Sets a header. Keeps the application's spelling of its name. */
export function setHeader(response: Response, name: string, value: string | number | string[]): void {
  const isThere = response.hasHeader(name)
  const spelled = isThere ? response.getRawHeaderNames?.().find(each => each.toLowerCase() === name) : undefined
  response.setHeader(spelled ?? name, value)
}

/** Replaces a method of an object that belongs to the application. An inherited method does not become enumerable. */
export function setMethod(owner: object, name: string, method: AnyFunction): void {
  Object.defineProperty(owner, name, { configurable: true, writable: true, value: method })
}

// eslint-disable-next-line no-control-regex -- control characters are made visible
const invisible = /\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** Characters that nobody sees, of which some can spell sentences, or that end a line for some readers. */
export const invisibleCharacters = /[\x7f-\x9f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu

/**
 * Makes invisible characters visible: control characters of ASCII (a CR only without its LF) as their Unicode pictures,
 * others (C1, bidirectional) as \uXXXX. Otherwise text could read differently from what was sent, or control terminals.
 */
export function visible(text: string): string {
  return text.replace(invisible, picture)
}

function picture(character: string): string {
  const code = character.charCodeAt(0)
  if (code === 0x7f) return '\u2421'
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return `\\u${code.toString(16).padStart(4, '0')}`
}
