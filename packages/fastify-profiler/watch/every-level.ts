import type { DestinationStream } from 'pino'
import { ownerOf, pinoInternals, type PinoInternals, type PinoLogger } from './pino-internals.ts'

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
