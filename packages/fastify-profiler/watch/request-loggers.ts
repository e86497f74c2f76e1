import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { attempt, isObject } from '../base/foreign-value.ts'
import { hasMarks, limitLogger, recordEveryLineOf, recordsEveryLevel } from './log-recorder.ts'
import { streamOf } from './pino-internals.ts'
import type { Recorder } from './recorder.ts'
import type { Recorders } from './recorders.ts'
import { markLogger } from './recording-stream.ts'
import { setMethod } from './set-method.ts'

type LoggerFactory = Parameters<FastifyInstance['setChildLoggerFactory']>[0]

/**
 * Records the lines of every request's logger, whichever child logger factory is set. A route's `logLevel` limits the
 * application's output but not the profile.
 */
export function followRequestLoggers(app: FastifyInstance, recorders: Recorders): void {
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

/** The note for every profile if the profiler does not see all log lines; null if it does. */
export function loggerNote({ log }: Pick<FastifyInstance, 'log'>): string | null {
  if (recordsEveryLevel(log)) return null
  if (isSilent(log)) return 'There are no log lines, since the application was made without a logger.'
  if (streamOf(log) === null) return "There are no log lines, since the application's logger is not pino."
  return (
    `Log lines below the logger's level (${log.level}), or below that of a route or plugin, are missing. ` +
    'Create the logger with profiledLogger().'
  )
}

/** Whether a logger is the one that Fastify has for `logger: false`, which is its own child. */
function isSilent(log: FastifyBaseLogger): boolean {
  return attempt(() => log.child({}), null) === log
}
