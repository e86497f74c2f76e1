import { STATUS_CODES } from 'node:http'
import type {
  FastifyBaseLogger,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify'
import { destination, type DestinationStream, type Logger, type LoggerOptions, transport } from 'pino'
import { findCaller } from '../../core/call-site.ts'
import type { CollectingRecorded, PageSources } from '../../core/feature.ts'
import { attempt, isError, isObject, isRecord, propertyOf, setMethod } from '../../core/foreign-value.ts'
import type { Mask } from '../../core/mask/mask.ts'
import { isAfterResponse, type RequestTime } from '../../core/intervals.ts'
import { type Json, type LogLine, type Profile, toMicroseconds } from '../../core/profile.ts'
import type { EnteredRequest } from '../../core/watch/exchanges.ts'
import type { RecordedLine, Recorder } from '../../core/watch/recorder.ts'
import { currentRecorder, type Recorders } from '../../core/watch/current-recorder.ts'
import { type IsWanted, pinoKey, type PinoLogger, streamOf, writeEveryLevel } from './every-level.ts'

const recorderOfLogger = Symbol('profiler.recorder')

/** Pino sets the last level, logger, object, message and time on a stream that has this property. */
const wantsMetadata = Symbol.for('pino.metadata')

/** Lines of this level and above have their caller. A stack for each line would cost a request 3 µs a line. */
const warning = 40
const error = 50

/** Shows each line of a logger to its request's recorder on the way to the application's stream. */
class RecordingStream implements DestinationStream {
  readonly [wantsMetadata] = true
  declare lastLevel?: number
  declare lastLogger?: Logger<string>
  declare lastObj?: unknown
  declare lastMsg?: unknown
  declare lastTime?: unknown
  readonly #stream: DestinationStream | null
  readonly #isWanted: IsWanted | null
  /** Whether recordedLogger() made it: pino then lets everything through, and its output is limited here. */
  readonly hasMarks: boolean

  /** @param isWanted whether to pass a line on; null if it gets no others */
  constructor(stream: DestinationStream | null, isWanted: IsWanted | null, hasMarks = false) {
    this.#stream = stream
    this.#isWanted = isWanted
    this.hasMarks = hasMarks
  }

  /** Whether it gets lines of every level, including those that the application does not want. */
  get isComplete(): boolean {
    return this.#isWanted !== null
  }

  write(line: string): void {
    this.#record(line)
    const stream = this.#stream
    const { lastLevel, lastLogger, lastObj, lastMsg, lastTime } = this
    if (stream === null) return
    if (lastLevel !== undefined && lastLogger !== undefined && this.#isWanted?.(lastLevel, lastLogger) === false) return
    if (wantsMetadata in stream) {
      Object.assign(stream, { lastLevel, lastLogger, lastObj, lastMsg, lastTime })
    }
    stream.write(line)
  }

  #record(line: string): void {
    const { lastLevel = 0, lastLogger, lastObj } = this
    const isTelling = lastLevel >= warning
    const begun = recorderFor(lastLogger)
    const recorder = begun?.finished === true && !isTelling ? null : begun?.open
    if (recorder == null) return
    const { write } = RecordingStream.prototype
    const told = lastLevel >= error ? lastObj : null
    const err = propertyOf(told, 'err')
    // An error with its reply is logged by Fastify. Its stack has no line of the application, and costs the most.
    const isFastifys = isError(err) && propertyOf(told, 'res') !== undefined
    const logged = isError(err) ? err : propertyOf(told, 'error')
    recorder.line(line, isTelling && !isFastifys ? findCaller(write) : null)
    if (isError(logged)) recorder.exception(logged, 'logged')
  }

  /** Called by pino before the process ends. */
  flushSync(): void {
    const flushSync = propertyOf(this.#stream, 'flushSync')
    if (typeof flushSync === 'function') Reflect.apply(flushSync, this.#stream, [])
  }

  /** Called by an application that waits until all lines are written. */
  flush(callback: (error?: Error) => void): void {
    const flush = propertyOf(this.#stream, 'flush')
    if (typeof flush === 'function') Reflect.apply(flush, this.#stream, [callback])
    else callback()
  }
}

/** The recorder that a logger is marked with. Children inherit the mark; loggers outside a request have none. */
function recorderFor(logger: object = {}): Recorder | undefined {
  const marked: unknown = Reflect.get(logger, recorderOfLogger)
  return isRecorder(marked) ? marked : currentRecorder()
}

function isRecorder(value: unknown): value is Recorder {
  return isObject(value) && 'token' in value && 'line' in value
}

/** Marks a request's logger with its recorder, so that its lines are recorded in the right profile. */
function markLogger(logger: object, recorder: Recorder): void {
  Object.defineProperty(logger, recorderOfLogger, { value: recorder, configurable: true })
}

/** Marks the logger of a request whose route was there before the profiler: Fastify made it with its own factory. */
export function markEarlierLogger({ recorder, request: { log, server } }: EnteredRequest): void {
  // Without logging, all requests share one silent logger.
  if (log === server.log || isRecorder(Reflect.get(log, recorderOfLogger))) return
  attempt(() => markLogger(log, recorder), undefined)
}

const levelOfLogger = Symbol('profiler.level')

/** The level and stream of a logger whose lines all reach the profiler. Pass both to `pino`. */
interface RecordedLogger {
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

/**
 * Prepares the options of the Fastify constructor, so that the profiler sees log lines of every level and requests that
 * fail before any hook runs. Without the profiler, the application works as before.
 */
export function profiledOptions<Options extends FastifyServerOptions>(options: Options) {
  return {
    ...options,
    ...(options.loggerInstance === undefined && { logger: profiledLogger(options.logger) }),
    frameworkErrors: options.frameworkErrors ?? answerAsFastify,
  }
}

/** Sends the same response as Fastify without `frameworkErrors`. */
function answerAsFastify(
  { code, message, statusCode = 400 }: FastifyError,
  _request: FastifyRequest,
  { raw: response }: FastifyReply,
): void {
  const body = JSON.stringify({ error: STATUS_CODES[statusCode], code, message, statusCode })
  response.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

/** Sets the lowest level that a logger writes to the application's output. */
function limitLogger(logger: object, level: string): void {
  if (hasMarks(logger)) Object.defineProperty(logger, levelOfLogger, { value: level, configurable: true })
  else Reflect.set(logger, 'level', level)
}

/** Whether the profiler has made a logger's stream, so that `limitLogger` must limit its output. */
function hasMarks(logger: object): boolean {
  const stream = streamOf(logger)
  return stream instanceof RecordingStream && stream.hasMarks
}

function recordsEveryLevel(logger: object): boolean {
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

type LoggerFactory = Parameters<FastifyInstance['setChildLoggerFactory']>[0]

/**
 * Records the lines of every request's logger, whichever child logger factory is set. A route's `logLevel` limits the
 * application's output but not the profile.
 */
function followRequestLoggers(app: FastifyInstance, recorders: Recorders): void {
  const isLimited = hasMarks(app.log)
  const setChildLoggerFactory = app.setChildLoggerFactory
  recordEveryLineOf(app.log)

  function follow(recorder: Recorder, child: object, level: string | undefined): void {
    markLogger(child, recorder)
    // A factory may make a child of another logger than the one passed to it.
    recordEveryLineOf(child)
    // Fastify up to 5.12.5 passes an empty string for a route without a level.
    if (!isLimited || level === undefined || level === '') return
    limitLogger(child, level)
  }

  // A proxy keeps the factory's name.
  const following = (factory: LoggerFactory): LoggerFactory =>
    new Proxy(factory, {
      apply(target, self, [logger, bindings, options, raw]: Parameters<LoggerFactory>): unknown {
        const recorder = recorders.of(raw)
        if (recorder === undefined) return Reflect.apply(target, self, [logger, bindings, options, raw])
        const { level, ...others } = options
        const child: unknown = Reflect.apply(target, self, [logger, bindings, isLimited ? others : options, raw])
        // Without logging, all requests share one silent logger. Fastify throws for anything that is not a logger.
        if (child !== logger && isObject(child)) {
          recorders.guard(recorder, () => follow(recorder, child, level), undefined)
        }
        return child
      },
    })

  app.setChildLoggerFactory(following(app.childLoggerFactory))
  setMethod(app, 'setChildLoggerFactory', function (this: FastifyInstance, factory: LoggerFactory): FastifyInstance {
    return setChildLoggerFactory.call(this, following(factory))
  })
}

const othersLoggers = new WeakSet<FastifyInstance>()

/** Tells that an application writes its lines with another logger than Fastify's, and that those are recorded. */
export function hasOtherLogger(app: FastifyInstance): void {
  othersLoggers.add(app)
}

/** Records the log of an application, and tells what cannot be recorded of it. */
export function watchLoggers({ app, notes, recorders, unseen }: PageSources): void {
  followRequestLoggers(app, recorders)
  const gap = loggerGap(app)
  if (gap === null) return
  notes.add(gap.says)
  if (gap.hidesErrors) unseen.push({ what: 'logs', says: gap.says })
}

interface LoggerGap {
  says: string
  /** Whether errors may be among them. */
  hidesErrors: boolean
}

/** What the profiler does not see of an application's log; null if it sees every line. */
function loggerGap(app: FastifyInstance): LoggerGap | null {
  const { log } = app
  if (recordsEveryLevel(log) || othersLoggers.has(app)) return null
  if (isSilent(log)) {
    const says =
      'Fastify logs nothing, since the application was made without a logger. Lines of your own pino logger are ' +
      'recorded if you make it with recordedLogger().'
    return { says, hidesErrors: true }
  }
  if (streamOf(log) === null) {
    return { says: "There are no log lines, since the application's logger is not pino.", hidesErrors: true }
  }
  const says =
    `Log lines below the logger's level (${log.level}), or below that of a route or plugin, are missing. ` +
    'Create the logger with profiledLogger().'
  return { says, hidesErrors: ['fatal', 'silent'].includes(log.level) }
}

/** Whether a logger is the one that Fastify has for `logger: false`, which is its own child. */
function isSilent(log: FastifyBaseLogger): boolean {
  return attempt(() => log.child({}), null) === log
}

/** Fields that are stored elsewhere in the profile, and `__proto__`, which would set the prototype. */
const ownFields = new Set(['level', 'time', 'pid', 'hostname', 'msg', '__proto__'])

export function collectLogs({ exchange, mask, time }: CollectingRecorded): Pick<Profile, 'logs'> {
  return { logs: exchange.recorder.lines.map(line => describeLogLine(line, time, mask)) }
}

function describeLogLine({ start, line, location }: RecordedLine, time: RequestTime, mask: Mask): LogLine {
  const parsed = parseLine(line)
  const { level: known, msg } = parsed
  const level = typeof known === 'number' ? known : 30
  const fields: Record<string, Json> = {}
  for (const name of Object.keys(parsed)) {
    if (!ownFields.has(name)) fields[mask.text(name)] = mask.value(parsed[name], name)
  }
  const message = typeof msg === 'string' ? mask.text(msg) : ''
  const described: LogLine = { level, start: toMicroseconds(start), message, fields }
  if (location !== null) described.location = location
  if (level >= warning && isAfterResponse(time, start)) described.isLate = true
  return described
}

function parseLine(line: string): Record<string, unknown> {
  const value = attempt((): unknown => JSON.parse(line), null)
  return isRecord(value) ? value : { msg: line }
}
