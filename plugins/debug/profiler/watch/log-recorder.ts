import type { FastifyServerOptions } from 'fastify'
import { destination, transport } from 'pino'
import type { DestinationStream, Logger, LoggerOptions } from 'pino'
import { currentRecorder } from './current-recorder.ts'
import type { Recorder } from './recorder.ts'

const recorderOfLogger = Symbol('profiler.recorder')
const levelOfLogger = Symbol('profiler.level')

/** Pino tells a stream that has this what a line was made of. */
const wantsMetadata = Symbol.for('pino.metadata')

/** The symbols under which loggers keep their stream: each copy of pino that is loaded has its own. */
const streamSymbols = new Set<symbol>()

interface Metadata {
  lastLevel?: number
  lastLogger?: Logger<string>
  lastObj?: unknown
  lastMsg?: unknown
  lastTime?: unknown
}

/** Stands before an application's stream: gives every line to the request it was written for, and passes it on. */
class RecordingStream implements DestinationStream, Metadata {
  readonly [wantsMetadata] = true
  declare lastLevel?: number
  declare lastLogger?: Logger<string>
  declare lastObj?: unknown
  declare lastMsg?: unknown
  declare lastTime?: unknown
  readonly #stream: DestinationStream | null
  readonly #level: string | null

  /** Passes on lines of this level and above; null: all that come. */
  constructor(stream: DestinationStream | null, level: string | null) {
    this.#stream = stream
    this.#level = level
  }

  /** Whether lines come here that the application does not want to see. */
  get isComplete(): boolean {
    return this.#level !== null
  }

  write(line: string): void {
    recorderFor(this.lastLogger)?.line(line)
    const stream = this.#stream
    if (stream === null || !this.#isWanted()) return
    if (wantsMetadata in stream) {
      const { lastLevel, lastLogger, lastObj, lastMsg, lastTime } = this
      Object.assign(stream, { lastLevel, lastLogger, lastObj, lastMsg, lastTime })
    }
    stream.write(line)
  }

  /** Pino asks for it before a process ends. */
  flushSync(): void {
    const flushSync: unknown = Reflect.get(this.#stream ?? {}, 'flushSync')
    if (typeof flushSync === 'function') Reflect.apply(flushSync, this.#stream, [])
  }

  #isWanted(): boolean {
    const { lastLevel, lastLogger } = this
    if (this.#level === null || lastLevel === undefined || lastLogger === undefined) return true
    const level: unknown = Reflect.get(lastLogger, levelOfLogger)
    return lastLevel >= Number(lastLogger.levels.values[typeof level === 'string' ? level : this.#level])
  }
}

/** A child of a request's logger inherits the mark through its prototype; a logger of the application's own has none. */
function recorderFor(logger: object = {}): Recorder | undefined {
  const marked: unknown = Reflect.get(logger, recorderOfLogger)
  return isRecorder(marked) ? marked : currentRecorder()
}

function isRecorder(value: unknown): value is Recorder {
  return typeof value === 'object' && value !== null && 'token' in value && 'line' in value
}

/** What a logger needs for all its lines to reach the profiler: pass both to `pino`, or use `profiledLogger`. */
export interface RecordedLogger {
  level: 'trace'
  stream: DestinationStream
}

/**
 * A logger that records every level for the profiler, while what it wrote before goes where it went, at the
 * level it had. `output` is the application's own stream, stdout if there is none.
 */
export function recordedLogger(level = 'info', output: DestinationStream = destination(1)): RecordedLogger {
  return { level: 'trace', stream: new RecordingStream(output, level) }
}

/** The `logger` option of the Fastify constructor, made so that the profiler sees every level. */
export function profiledLogger(logger: FastifyServerOptions['logger']): LoggerOptions & { stream: DestinationStream } {
  if (logger === undefined || logger === false) return { level: 'trace', stream: new RecordingStream(null, 'silent') }
  if (logger === true) return recordedLogger()
  const { transport: target, stream, file, level, ...options } = logger
  const output =
    stream ?? (file !== undefined ? destination(file) : target !== undefined ? transport(target) : destination(1))
  return { ...options, ...recordedLogger(level, output) }
}

/** Marks a request's logger, so that its lines find their way however many requests run at once. */
export function markLogger(logger: object, recorder: Recorder): void {
  Object.defineProperty(logger, recorderOfLogger, { value: recorder, configurable: true })
}

/** Says from which level on a logger's lines are wanted by the application, where that is a level of its own. */
export function limitLogger(logger: object, level: string): void {
  Object.defineProperty(logger, levelOfLogger, { value: level, configurable: true })
}

/** Whether a logger gives the profiler the lines of every level. */
export function recordsEveryLevel(logger: object): boolean {
  const stream = streamOf(logger)
  return stream instanceof RecordingStream && stream.isComplete
}

/** Lets the profiler see at least the lines that a logger's level lets through, and those of loggers made from it. */
export function recordLinesOf(logger: object): void {
  const symbol = streamSymbolOf(logger)
  const stream = streamOf(logger)
  if (symbol === null || stream === null || stream instanceof RecordingStream) return
  Object.defineProperty(logger, symbol, {
    value: new RecordingStream(stream, null),
    configurable: true,
    writable: true,
  })
}

/** Where a logger of pino's writes; null for any other, and for none. */
export function streamOf(logger: object): DestinationStream | null {
  const symbol = streamSymbolOf(logger)
  const stream: unknown = symbol === null ? null : Reflect.get(logger, symbol)
  return isStream(stream) ? stream : null
}

/** Found by its description, since the application's pino may be another copy than the profiler's. */
function streamSymbolOf(logger: object): symbol | null {
  for (const symbol of streamSymbols) if (symbol in logger) return symbol
  for (let owner: object | null = logger; owner !== null; owner = Reflect.getPrototypeOf(owner)) {
    const symbol = Object.getOwnPropertySymbols(owner).find(({ description }) => description === 'pino.stream')
    if (symbol === undefined) continue
    streamSymbols.add(symbol)
    return symbol
  }
  return null
}

function isStream(value: unknown): value is DestinationStream {
  return typeof value === 'object' && value !== null && 'write' in value && typeof value.write === 'function'
}
