import type { DestinationStream, Logger } from 'pino'
import { findCaller } from '../base/caller.ts'
import { propertyOf } from '../base/foreign-value.ts'
import { currentRecorder } from './current-recorder.ts'
import type { IsWanted } from './every-level.ts'
import type { Recorder } from './recorder.ts'

const recorderOfLogger = Symbol('profiler.recorder')

/** Pino sets the last level, logger, object, message and time on a stream that has this property. */
const wantsMetadata = Symbol.for('pino.metadata')

interface Metadata {
  lastLevel?: number
  lastLogger?: Logger<string>
  lastObj?: unknown
  lastMsg?: unknown
  lastTime?: unknown
}

/** Lines of this level and above have their caller. A stack for each line would cost a request 3 µs a line. */
const warning = 40

/** Shows each line of a logger to its request's recorder on the way to the application's stream. */
export class RecordingStream implements DestinationStream, Metadata {
  readonly [wantsMetadata] = true
  declare lastLevel?: number
  declare lastLogger?: Logger<string>
  declare lastObj?: unknown
  declare lastMsg?: unknown
  declare lastTime?: unknown
  readonly #stream: DestinationStream | null
  readonly #isWanted: IsWanted | null
  /** Whether the logger's own level is trace, so that a mark has to limit its output. */
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
    const recorder = recorderFor(this.lastLogger)
    if (recorder === undefined) return
    const { write } = RecordingStream.prototype
    recorder.line(line, (this.lastLevel ?? 0) >= warning ? findCaller(write) : null)
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
  return typeof value === 'object' && value !== null && 'token' in value && 'line' in value
}

/** Marks a request's logger with its recorder, so that its lines are recorded in the right profile. */
export function markLogger(logger: object, recorder: Recorder): void {
  Object.defineProperty(logger, recorderOfLogger, { value: recorder, configurable: true })
}
