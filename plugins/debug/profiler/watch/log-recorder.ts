import type { FastifyServerOptions } from 'fastify'
import { destination, transport } from 'pino'
import type { DestinationStream, Logger, LoggerOptions } from 'pino'
import { currentRecorder } from './current-recorder.ts'
import type { Recorder } from './recorder.ts'

const recorderOfLogger = Symbol('profiler.recorder')
const levelOfLogger = Symbol('profiler.level')

/** Pino sets the last level, logger, object, message and time on a stream that has this property. */
const wantsMetadata = Symbol.for('pino.metadata')

/** The symbols under which loggers keep their stream. Each loaded copy of pino has its own. */
const streamSymbols = new Set<symbol>()

interface Metadata {
  lastLevel?: number
  lastLogger?: Logger<string>
  lastObj?: unknown
  lastMsg?: unknown
  lastTime?: unknown
}

/** Records every line in its request's recorder, and passes it on to the application's stream. */
class RecordingStream implements DestinationStream, Metadata {
  readonly [wantsMetadata] = true
  declare lastLevel?: number
  declare lastLogger?: Logger<string>
  declare lastObj?: unknown
  declare lastMsg?: unknown
  declare lastTime?: unknown
  readonly #stream: DestinationStream | null
  readonly #level: string | null

  /** @param level the lowest level to pass on; null for all lines */
  constructor(stream: DestinationStream | null, level: string | null) {
    this.#stream = stream
    this.#level = level
  }

  /** Whether it gets lines of every level, including those that the application does not want. */
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

  /** Called by pino before the process ends. */
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

/** The recorder that a logger is marked with. Children inherit the mark; loggers outside a request have none. */
function recorderFor(logger: object = {}): Recorder | undefined {
  const marked: unknown = Reflect.get(logger, recorderOfLogger)
  return isRecorder(marked) ? marked : currentRecorder()
}

function isRecorder(value: unknown): value is Recorder {
  return typeof value === 'object' && value !== null && 'token' in value && 'line' in value
}

/** The level and stream of a logger whose lines all reach the profiler. Pass both to `pino`. */
export interface RecordedLogger {
  level: 'trace'
  stream: DestinationStream
}

/**
 * Makes the level and stream of a logger that records every level for the profiler. Its output stays the same.
 * @param level the lowest level to write to `output`
 * @param output the application's own stream. Default: stdout
 */
export function recordedLogger(level = 'info', output: DestinationStream = destination(1)): RecordedLogger {
  return { level: 'trace', stream: new RecordingStream(output, level) }
}

/** Converts the `logger` option of the Fastify constructor, so that the profiler sees every level. */
export function profiledLogger(logger: FastifyServerOptions['logger']): LoggerOptions & { stream: DestinationStream } {
  if (logger === undefined || logger === false) return { level: 'trace', stream: new RecordingStream(null, 'silent') }
  if (logger === true) return recordedLogger()
  const { transport: target, stream, file, level, ...options } = logger
  const output =
    stream ?? (file !== undefined ? destination(file) : target !== undefined ? transport(target) : destination(1))
  return { ...options, ...recordedLogger(level, output) }
}

/** Marks a request's logger with its recorder, so that its lines are recorded in the right profile. */
export function markLogger(logger: object, recorder: Recorder): void {
  Object.defineProperty(logger, recorderOfLogger, { value: recorder, configurable: true })
}

/** Sets the lowest level that a logger writes to the application's output, if it differs from the application's. */
export function limitLogger(logger: object, level: string): void {
  Object.defineProperty(logger, levelOfLogger, { value: level, configurable: true })
}

/** Whether the profiler gets a logger's lines of every level. */
export function recordsEveryLevel(logger: object): boolean {
  const stream = streamOf(logger)
  return stream instanceof RecordingStream && stream.isComplete
}

/** Records the lines of a logger and of its children, as far as its level lets them through. */
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

/** The stream of a pino logger; null for any other value. */
export function streamOf(logger: object): DestinationStream | null {
  const symbol = streamSymbolOf(logger)
  const stream: unknown = symbol === null ? null : Reflect.get(logger, symbol)
  return isStream(stream) ? stream : null
}

/** Finds the symbol by its description, since the application may use another copy of pino than the profiler. */
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
