import type { DestinationStream } from 'pino'
import { isObject, isFunction, type AnyFunction } from '../base/foreign-value.ts'

/** The part of a pino logger that the profiler relies on. */
export interface PinoLogger {
  /** The values of all levels by their names. "silent" is not enumerable. */
  levels: { values: Record<string, number> }
}

/** What a pino logger keeps under symbols. */
export interface PinoInternals {
  /** The logger that owns the stream. The others are its children. */
  root: PinoLogger
  stream: DestinationStream
  /** Compares a level with the threshold. */
  isEnabled: AnyFunction
  setLevel: AnyFunction
  keys: { stream: symbol; levelVal: symbol; setLevel: symbol }
}

/** Each loaded copy of pino has symbols of its own. The application may use another copy than the profiler. */
const knownKeys = new Map<string, Set<symbol>>()

/** The internals of a pino logger; null for another logger, and for a version of pino that has others. */
export function pinoInternals(logger: object): PinoInternals | null {
  const keys = {
    stream: pinoKey(logger, 'pino.stream'),
    levelVal: pinoKey(logger, 'pino.levelVal'),
    setLevel: pinoKey(logger, 'pino.setLevel'),
  }
  const stream = streamOf(logger)
  const root = keys.stream === null ? logger : ownerOf(logger, keys.stream)
  const setLevel = pinoValue(logger, 'pino.setLevel')
  const isEnabled = pinoValue(logger, 'pino.levelComp')
  const isPino = areKnown(keys) && stream !== null && isPinoLogger(root)
  return isPino && isFunction(setLevel) && isFunction(isEnabled) ? { root, stream, isEnabled, setLevel, keys } : null
}

/** The stream of a pino logger; null for any other value. */
export function streamOf(logger: object): DestinationStream | null {
  const stream = pinoValue(logger, 'pino.stream')
  return isStream(stream) ? stream : null
}

function pinoValue(logger: object, description: string): unknown {
  const key = pinoKey(logger, description)
  return key === null ? undefined : Reflect.get(logger, key)
}

/** Finds the key of a logger's property by its description; null if there is none. */
export function pinoKey(logger: object, description: string): symbol | null {
  const known = knownKeys.get(description) ?? new Set()
  for (const key of known) if (key in logger) return key
  for (let owner: object | null = logger; owner !== null; owner = Reflect.getPrototypeOf(owner)) {
    const key = Object.getOwnPropertySymbols(owner).find(symbol => symbol.description === description)
    if (key === undefined) continue
    knownKeys.set(description, known.add(key))
    return key
  }
  return null
}

/** The logger that has one of the properties as its own: this one, or one that it is a child of. */
export function ownerOf(logger: object, ...keys: symbol[]): object {
  const parent = Reflect.getPrototypeOf(logger)
  return parent === null || keys.some(key => Object.hasOwn(logger, key)) ? logger : ownerOf(parent, ...keys)
}

function isPinoLogger(logger: object): logger is PinoLogger {
  return 'levels' in logger && isObject(logger.levels) && 'values' in logger.levels
}

function areKnown(keys: Record<keyof PinoInternals['keys'], symbol | null>): keys is PinoInternals['keys'] {
  return !Object.values(keys).includes(null)
}

function isStream(value: unknown): value is DestinationStream {
  return isObject(value) && 'write' in value && isFunction(value.write)
}
