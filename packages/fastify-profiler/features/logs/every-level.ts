import type { DestinationStream } from 'pino'
import { type AnyFunction, isFunction, isObject } from '../../core/foreign-value.ts'

/** The part of a pino logger that the profiler relies on. */
export interface PinoLogger {
  /** The values of all levels by their names. "silent" is not enumerable. */
  levels: { values: Record<string, number> }
}

/** What a pino logger keeps under symbols. */
interface PinoInternals {
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
function pinoInternals(logger: object): PinoInternals | null {
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
function ownerOf(logger: object, ...keys: symbol[]): object {
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

/** Whether the application wants a logger's line of this level. */
export type IsWanted = (level: number, logger: object) => boolean

/** The value of the level that the application has set. A logger's children inherit it. */
const wanted = Symbol('profiler.wanted')

/**
 * Makes an existing pino logger and its children write lines of every level. The application still sees the level that
 * it has set. This replaces pino's internals.
 * @param tee makes the stream that gets all lines, and passes on those that the application wants
 * @returns false for a logger with other internals, which stays as it is
 */
export function writeEveryLevel(
  logger: object,
  tee: (stream: DestinationStream, isWanted: IsWanted) => DestinationStream,
): boolean {
  const internals = pinoInternals(logger)
  if (internals === null) return false
  // The logger that the others are children of: the application may log with it, too.
  const { root, stream, keys } = internals
  const levels = new Levels(internals)
  if (!Object.isExtensible(root) || levels.lowestOf(root) === undefined) return false
  levels.showWanted(root)
  levels.lower(root)
  define(root, keys.stream, {
    value: tee(stream, (level, logger) => levels.isWanted(level, logger)),
    writable: true,
  })
  return true
}

/** Keeps the level that the application sees apart from the one that a logger writes. */
class Levels {
  readonly #internals: PinoInternals

  constructor(internals: PinoInternals) {
    this.#internals = internals
  }

  isWanted(level: number, logger: object): boolean {
    return this.#isEnabled(level, this.#wantedOf(logger))
  }

  /** The level that lets all others through; undefined if a custom comparison has none. */
  lowestOf({ levels }: PinoLogger): number | undefined {
    const all = Object.values(levels.values)
    return all.find(threshold => all.every(level => this.#isEnabled(level, threshold)))
  }

  /** Replaces what tells and what sets the level of a logger and its children. */
  showWanted(root: PinoLogger): void {
    const { keys, setLevel } = this.#internals
    const wantedOf = (logger: object) => this.#wantedOf(logger)
    const isWanted = (level: number, logger: object) => this.isWanted(level, logger)
    const lower = (logger: PinoLogger) => this.lower(logger)
    const remember = (logger: PinoLogger) => {
      const level: unknown = Reflect.get(logger, keys.levelVal)
      define(logger, wanted, { value: level })
    }
    remember(root)
    // Pino's `level` is the name of this value.
    define(root, 'levelVal', {
      get(this: PinoLogger): number {
        return wantedOf(this)
      },
    })
    define(root, 'isLevelEnabled', {
      value: function isLevelEnabled(this: PinoLogger, name: string): boolean {
        const level = this.levels.values[name]
        return level !== undefined && isWanted(level, this)
      },
      writable: true,
    })
    define(root, keys.setLevel, {
      value: function (this: PinoLogger, level: unknown): void {
        // The event tells of the level before.
        Reflect.set(this, keys.levelVal, wantedOf(this))
        Reflect.apply(setLevel, this, [level])
        remember(this)
        lower(this)
      },
      writable: true,
    })
  }

  /** Sets the level that a logger writes to its lowest, without pino's event. */
  lower(logger: PinoLogger): void {
    const silent = Object.defineProperty({}, 'emit', { value() {} })
    Reflect.setPrototypeOf(silent, logger)
    Reflect.apply(this.#internals.setLevel, silent, [this.lowestOf(logger)])
    Object.assign(logger, silent)
  }

  #wantedOf(logger: object): number {
    const { levelVal } = this.#internals.keys
    // A child from before has a level of its own.
    const owner = ownerOf(logger, wanted, levelVal)
    return Number(Reflect.get(owner, Object.hasOwn(owner, wanted) ? wanted : levelVal))
  }

  #isEnabled(level: number, threshold: number): boolean {
    return Boolean(Reflect.apply(this.#internals.isEnabled, undefined, [level, threshold]))
  }
}

function define(owner: object, key: string | symbol, property: PropertyDescriptor): void {
  Object.defineProperty(owner, key, { configurable: true, ...property })
}
