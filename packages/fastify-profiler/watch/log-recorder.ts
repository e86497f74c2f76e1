import type { FastifyServerOptions } from 'fastify'
import { destination, transport } from 'pino'
import type { DestinationStream, LoggerOptions } from 'pino'
import { writeEveryLevel, type IsWanted } from './every-level.ts'
import { pinoKey, streamOf, type PinoLogger } from './pino-internals.ts'
import { RecordingStream } from './recording-stream.ts'

const levelOfLogger = Symbol('profiler.level')

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
  return { level: 'trace', stream: new RecordingStream(output, from(level), true) }
}

/** The lines of a logger's own level, or else of the application's. */
function from(level: string): IsWanted {
  return (value, logger: Partial<PinoLogger>) => {
    const own: unknown = Reflect.get(logger, levelOfLogger)
    return value >= (logger.levels?.values[typeof own === 'string' ? own : level] ?? Infinity)
  }
}

/** Converts the `logger` option of the Fastify constructor, so that the profiler sees every level. */
export function profiledLogger(logger: FastifyServerOptions['logger']): LoggerOptions & { stream: DestinationStream } {
  if (logger === undefined || logger === false) {
    return { level: 'trace', stream: new RecordingStream(null, from('silent'), true) }
  }
  if (logger === true) return recordedLogger()
  const { transport: target, stream, file, level, ...options } = logger
  const output =
    stream ?? (file !== undefined ? destination(file) : target !== undefined ? transport(target) : destination(1))
  return { ...options, ...recordedLogger(level, output) }
}

/** Sets the lowest level that a logger writes to the application's output. */
export function limitLogger(logger: object, level: string): void {
  if (hasMarks(logger)) Object.defineProperty(logger, levelOfLogger, { value: level, configurable: true })
  else Reflect.set(logger, 'level', level)
}

/** Whether the profiler has made a logger's stream, so that `limitLogger` must limit its output. */
export function hasMarks(logger: object): boolean {
  const stream = streamOf(logger)
  return stream instanceof RecordingStream && stream.hasMarks
}

/** Whether the profiler gets a logger's lines of every level. */
export function recordsEveryLevel(logger: object): boolean {
  const stream = streamOf(logger)
  return stream instanceof RecordingStream && stream.isComplete
}

/** Records the lines of a logger and of its children: of every level if it is pino. The output stays the same. */
export function recordEveryLineOf(logger: object): void {
  if (streamOf(logger) instanceof RecordingStream) return
  if (!writeEveryLevel(logger, (stream, isWanted) => new RecordingStream(stream, isWanted))) recordLinesOf(logger)
}

/** Records the lines of a logger and of its children, as far as its level lets them through. */
function recordLinesOf(logger: object): void {
  const key = pinoKey(logger, 'pino.stream')
  const stream = streamOf(logger)
  if (key === null || stream === null) return
  Object.defineProperty(logger, key, {
    value: new RecordingStream(stream, null),
    configurable: true,
    writable: true,
  })
}
