import type { FastifyServerOptions } from 'fastify'
import { destination, multistream, symbols, transport } from 'pino'
import type { DestinationStream, LoggerOptions, StreamEntry } from 'pino'
import { currentRecorder } from './current-recorder.ts'
import type { Recorder } from './recorder.ts'

const recorderOfLogger = Symbol('profiler.recorder')
const recordsLines = Symbol('profiler.recordsLines')

/** Pino hands a stream that has this the logger a line came from. */
const wantsMetadata = Symbol.for('pino.metadata')

interface LineRecorder extends DestinationStream {
  lastLogger?: object
}

/** Receives every line of every level, and gives it to the request whose logger wrote it. */
const lineRecorder: LineRecorder = Object.assign<DestinationStream, object>({
  write (line: string) {
    recorderFor(lineRecorder.lastLogger)?.line(line)
  }
}, { [wantsMetadata]: true })

/** A child of a request's logger inherits the mark through its prototype; a logger of the application's own has none. */
function recorderFor (logger: object = {}): Recorder | undefined {
  const marked: unknown = Reflect.get(logger, recorderOfLogger)
  return isRecorder(marked) ? marked : currentRecorder()
}

function isRecorder (value: unknown): value is Recorder {
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
export function recordedLogger (level = 'info', output: DestinationStream = destination(1)): RecordedLogger {
  return recorded({ level, stream: output })
}

function recorded (...outputs: Array<StreamEntry<string>>): RecordedLogger {
  const stream = multistream<string>([{ level: 'trace', stream: lineRecorder }, ...outputs])
  return { level: 'trace', stream: Object.assign(stream, { [recordsLines]: true }) }
}

/** The `logger` option of the Fastify constructor, made so that the profiler sees every level. */
export function profiledLogger (logger: FastifyServerOptions['logger']): LoggerOptions & { stream: DestinationStream } {
  if (logger === undefined || logger === false) return recorded()
  if (logger === true) return recordedLogger()
  const { transport: target, stream, file, level, ...options } = logger
  const output = stream ?? (file !== undefined ? destination(file) : target !== undefined ? transport(target) : destination(1))
  return { ...options, ...recordedLogger(level, output) }
}

/** Marks a request's logger, so that its lines find their way however many requests run at once. */
export function markLogger (logger: object, recorder: Recorder): void {
  Object.defineProperty(logger, recorderOfLogger, { value: recorder, configurable: true })
}

/** Whether an application's logger has the profiler's stream. */
export function recordsEveryLevel (logger: object): boolean {
  const stream = streamOf(logger)
  return stream !== null && recordsLines in stream
}

/** For a request's logger without it: lets the request see at least the lines that the logger's level lets through. */
export function recordLinesOf (logger: object, recorder: Recorder): void {
  const stream = streamOf(logger)
  if (stream === null) return
  const tee: DestinationStream = Object.create(stream, {
    write: {
      value (line: string): void {
        recorder.line(line)
        // A stream that is told of each line's level finds it on itself, any other needs its own state.
        Reflect.apply(stream.write, wantsMetadata in stream ? tee : stream, [line])
      }
    }
  })
  Object.defineProperty(logger, symbols.streamSym, { value: tee })
}

/** Where a logger of pino's writes; null for any other, and for none. */
export function streamOf (logger: object): DestinationStream | null {
  const stream: unknown = Reflect.get(logger, symbols.streamSym)
  return isStream(stream) ? stream : null
}

function isStream (value: unknown): value is DestinationStream {
  return typeof value === 'object' && value !== null && 'write' in value && typeof value.write === 'function'
}
