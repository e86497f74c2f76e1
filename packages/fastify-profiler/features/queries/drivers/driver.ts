import { errorMonitor, EventEmitter } from 'node:events'
import { Stream } from 'node:stream'
import { isPromise } from 'node:util/types'
import { type AnyFunction, isFunction, isObject, propertyOf } from '../../../core/foreign-value.ts'
import { driverBoundary } from '../../../core/guard.ts'
import type { ExplainClient } from '../../../core/feature.ts'
import type { PoolCounts } from '../../../core/profile.ts'
import { currentRecorder, recorderScope } from '../../../core/watch/current-recorder.ts'
import { beginQuery, beginWait, inThisScope, type QueryCall } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'

/** A library whose calls are watched. One of these a file. */
export interface Driver {
  /** The packages that `patch` is called for. */
  packages?: readonly string[]
  /**
   * Patches what a module exports, as soon as it is loaded, once for each copy. The exports may be those of any version
   * of the package or of one of its inner modules: patch only what is there.
   */
  patch?(exports: unknown): void
  /**
   * The ES modules with the package's classes, from its CommonJS file. Only for packages that contain themselves twice,
   * as CommonJS and as ES modules, since nothing tells when an ES module is loaded.
   * @param installed the packages that the application and its libraries depend on
   */
  moduleFiles?(commonJsFile: string, installed: readonly string[]): readonly string[]
  /** Subscribes to diagnostics channels. Called once. */
  subscribe?(): void
}

export interface WatchedServer {
  system: 'postgresql' | 'mysql'
  /** "127.0.0.1:5432/shop". */
  name: string
  /** Connects with the options of the application's own connections. */
  connect: () => Promise<ExplainClient>
}

/** An application may have a database for each of its customers. */
const mostServers = 20
const servers = new Map<string, WatchedServer>()

export function watchedServers(system: string): WatchedServer[] {
  return [...servers.values()].filter(server => server.system === system)
}

export function rememberServer(server: WatchedServer): void {
  if (servers.size < mostServers) servers.set(`${server.system} ${server.name}`, server)
}

/** Milliseconds that a connection of the profiler's own may take to open. */
export const connectionTimeout = 2000

/** The names of the methods that were replaced, by the object that has them. */
const replaced = new WeakMap<object, Set<string>>()

/** Properties that a function of another kind may not have. */
const notCopied = new Set<PropertyKey>(['prototype', 'arguments', 'caller'])

/**
 * Replaces a method on the prototype that defines it. The replacement keeps the name, the length and all other
 * properties of the method. Does nothing if there is no such method, or if it has been replaced before.
 * @param owner the object or prototype that has the method, itself or by inheritance
 */
export function replaceMethod(owner: unknown, name: string, replace: (method: AnyFunction) => AnyFunction): void {
  const holder = holderOf(owner, name)
  const method: unknown = holder === null ? null : Object.getOwnPropertyDescriptor(holder, name)?.value
  if (holder === null || !isFunction(method)) return
  const names = replaced.get(holder) ?? new Set()
  if (names.has(name)) return
  const replacement = replace(method)
  for (const key of Reflect.ownKeys(method)) {
    if (notCopied.has(key)) continue
    Reflect.defineProperty(replacement, key, { ...Object.getOwnPropertyDescriptor(method, key) })
  }
  replaced.set(holder, names.add(name))
  Reflect.defineProperty(holder, name, { ...Object.getOwnPropertyDescriptor(holder, name), value: replacement })
}

/** Makes a method that tells of its calls before it makes them. What is told may change the arguments. */
export function toldMethod(
  method: AnyFunction,
  tell: (self: object, args: unknown[], below: AnyFunction) => void,
): AnyFunction {
  return function told(this: object, ...args: unknown[]): unknown {
    driverBoundary.guard(() => tell(this, args, told), undefined)
    return Reflect.apply(method, this, args)
  }
}

/** The prototype of a class that a module exports under this name; null if there is none. */
export function prototypeOf(exports: unknown, name: string): object | null {
  const exported: unknown = propertyOf(exports, name)
  const prototype: unknown = isFunction(exported) ? Reflect.get(exported, 'prototype') : null
  return isObject(prototype) ? prototype : null
}

/** The prototype of a class that is all that a module exports; null if it is no class. */
export function classItself(exports: unknown): object | null {
  return prototypeOf({ exports }, 'exports')
}

function holderOf(owner: unknown, name: string): object | null {
  for (let holder = owner; isObject(holder); holder = Object.getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) return holder
  }
  return null
}

/** Tells when an object of a class gets a property, which is its own from then on. */
export function whenSet(
  prototype: object | null,
  name: string,
  tell: (owner: object, value: unknown, below: AnyFunction) => void,
): void {
  if (prototype === null || Object.hasOwn(prototype, name)) return
  const set = function (this: object, value: unknown): void {
    Reflect.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true })
    driverBoundary.guard(() => tell(this, value, set), undefined)
  }
  Reflect.defineProperty(prototype, name, { configurable: true, get: () => undefined, set })
}

interface Sending {
  /** Reads the query from the method's arguments. @returns null for a call that sends none */
  read(args: readonly unknown[], self: object): AskedQuery | null
  /** Whether a function as the last argument is a callback. Default: false. */
  takesCallback?: boolean
  /** The object that has the callback, and its property, if it is no last argument. */
  callbackIn?(args: readonly unknown[]): readonly [owner: object, name: PropertyKey]
  /** The number of rows in a result; null if it is unknown. */
  rowsIn(result: unknown): number | null
  /** The socket of a connection that is asked nothing else now, and one question at a time; else undefined. */
  idleSocket?(self: object): unknown
}

/**
 * Makes a method that records the queries which another one sends. The caller gets what the method returns, or what it
 * throws. The query ends with its callback, its promise or its stream.
 */
export function watchedMethod(
  method: AnyFunction,
  { callbackIn, idleSocket, read, rowsIn, takesCallback = callbackIn !== undefined }: Sending,
): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    if (currentRecorder() === undefined) return Reflect.apply(method, this, args)
    const asked = driverBoundary.guard(() => read(args, this), null)
    const call = asked === null ? null : beginQuery(asked, watched)
    if (call === null) return Reflect.apply(method, this, args)
    const socket = driverBoundary.guard(() => idleSocket?.(this), undefined)
    const before = numberIn(socket, 'bytesRead')
    const bytes = () => numberIn(socket, 'bytesRead') - before
    const end = (result: unknown) =>
      call.end(
        driverBoundary.guard(() => rowsIn(result), null),
        result,
        bytes(),
      )
    const tell = (error: unknown, result: unknown) => (error ? call.fail(error) : end(result))
    const hasCallback = takesCallback && followCallback(args, tell, callbackIn?.(args))
    let result: unknown
    try {
      result = call.run((): unknown => Reflect.apply(method, this, args))
    } catch (error) {
      call.fail(error)
      throw error
    }
    return hasCallback ? result : followResult(result, call, end, bytes)
  }
}

/** Tells of a callback's arguments before it is called. @returns false if the last argument, or `owner`, has none */
function followCallback(
  args: unknown[],
  tell: (error: unknown, result: unknown) => void,
  [owner, name]: readonly [owner: object, name: PropertyKey] = [args, args.length - 1],
): boolean {
  const callback: unknown = Reflect.get(owner, name)
  if (!isFunction(callback)) return false
  const followed = inThisScope(function (this: unknown, ...results: unknown[]): unknown {
    // A request that is sent again has the same callback.
    if (Reflect.get(owner, name) === followed) Reflect.set(owner, name, callback)
    tell(results[0], results[1])
    return Reflect.apply(callback, this, results)
  })
  Reflect.set(owner, name, followed)
  return true
}

function followResult(result: unknown, call: QueryCall, end: (result: unknown) => void, bytes: () => number): unknown {
  if (isPromise(result)) return followPromise(result, end, error => call.fail(error))
  if (isEmitter(result)) followEvents(result, call, bytes)
  else end(result)
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
      driverBoundary.guard(() => resolved(result), undefined)
      return result
    },
    (error: unknown) => {
      rejected(error)
      throw error
    },
  )
}

/** Functions that settle a promise, and tell so. */
const heard = new WeakSet<AnyFunction>()

/** Tells when an object settles its promise by a function of its own. The promise stays as it is, handled or not. */
export function hear(owner: object, name: 'resolve' | 'reject', tell: (value: unknown) => void): void {
  const settle: unknown = Reflect.get(owner, name)
  if (!isFunction(settle) || heard.has(settle)) return
  const watched = function (this: unknown, ...values: unknown[]): unknown {
    driverBoundary.guard(() => tell(values[0]), undefined)
    return Reflect.apply(settle, this, values)
  }
  heard.add(watched)
  Reflect.set(owner, name, watched)
}

/** A stream or cursor ends by itself. Nothing of it is read, and an error that nobody handles stays one. */
function followEvents(emitter: EventEmitter, call: QueryCall, bytes: () => number): void {
  // Once a stream is read to its end, its connection may have received other answers.
  emitter.once('end', () => call.end(null, undefined, emitter instanceof Stream ? NaN : bytes()))
  emitter.once('close', () => call.end(null))
  emitter.once(errorMonitor, (error: unknown) => call.fail(error))
}

function isEmitter(value: unknown): value is EventEmitter {
  return value instanceof EventEmitter
}

/** A number that a library tells by a property, by a method, or as the length of a queue; NaN if it does not. */
export function numberIn(owner: unknown, name: string): number {
  const value = propertyOf(owner, name)
  if (isFunction(value) && isObject(owner)) return Number(Reflect.apply(value, owner, []))
  return Number(propertyOf(value, 'length') ?? value)
}

/**
 * Makes a method that records how long a request waits for the connection that another one gets from a pool.
 * @param countsOf reads the pool's counts before it is asked. With one that is no number, nothing is said of the cause.
 */
export function watchedConnect(connect: AnyFunction, countsOf: (pool: object) => PoolCounts): AnyFunction {
  return function watched(this: object, ...args: unknown[]): unknown {
    if (currentRecorder() === undefined) return Reflect.apply(connect, this, args)
    const counts = driverBoundary.guard(() => countsOf(this), null)
    const isTold = counts !== null && counts.open + counts.free + counts.most + counts.waiting < Infinity
    // Only who opens a connection wants to know why there was none.
    if (counts !== null && (counts.free > 0 || counts.open >= counts.most)) counts.closing = null
    const got = beginWait(watched, isTold ? counts : null)
    if (got === null) return Reflect.apply(connect, this, args)
    const end = (connection: unknown) => got(isObject(connection) ? connection : null)
    const hasCallback = followCallback(args, (_error, connection) => end(connection))
    const result: unknown = Reflect.apply(connect, this, args)
    return hasCallback || !(result instanceof Promise) ? result : followPromise(result, end, () => end(null))
  }
}

/** Makes calls that belong to no request, such as what a pool asks a connection for itself. */
export function outsideRequests(method: AnyFunction): AnyFunction {
  return function called(this: object, ...args: unknown[]): unknown {
    return recorderScope.exit((): unknown => Reflect.apply(method, this, args))
  }
}

/** What the pool of a client counts, if it is of the library tarn. */
export function tarnCounts(client: object): PoolCounts {
  const pool = propertyOf(client, 'pool')
  const free = numberIn(pool, 'numFree')
  const after = numberIn(pool, 'idleTimeoutMillis')
  return {
    open: numberIn(pool, 'numUsed') + numberIn(pool, 'numPendingCreates') + free,
    free,
    most: numberIn(pool, 'max'),
    waiting: numberIn(pool, 'numPendingAcquires'),
    closing: after > 0 && numberIn(pool, 'min') === 0 ? { option: 'idleTimeoutMillis', after } : null,
  }
}
