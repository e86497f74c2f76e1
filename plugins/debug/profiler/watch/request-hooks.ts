import type { FastifyInstance } from 'fastify'
import { isObject } from '../base/foreign-value.ts'
import { hideFrames } from '../base/hidden-frames.ts'
import { limitLogger, markLogger, recordLinesOf, recordsEveryLevel, streamOf } from './log-recorder.ts'
import type { Exchanges } from './exchanges.ts'
import type { Recorder } from './recorder.ts'
import type { Recorders } from './recorders.ts'
import { watchWebStream } from './web-stream.ts'

hideFrames(import.meta.filename)

/**
 * Adds the profiler's own hooks, which record dispatch points and Fastify's own errors. They are added before the
 * tracer, and so are in no profile.
 */
export function addRequestHooks(app: FastifyInstance, exchanges: Exchanges, recorders: Recorders): void {
  app.addHook('onRequest', function markRequest(request, reply, done) {
    exchanges.enter(request, reply)
    recorders.record(request, recorder => recorder.mark('kernel.request'))
    done()
  })
  app.addHook('preHandler', function markController(request, _reply, done) {
    recorders.record(request, recorder => {
      recorder.calls.validated()
      recorder.mark('kernel.controller')
    })
    done()
  })
  app.addHook('onSend', function markResponse(request, { raw }, payload, done) {
    recorders.record(request, recorder => {
      recorder.calls.answering()
      recorder.mark('kernel.response')
      // Before the head is sent, Fastify calls the error handlers.
      watchWebStream(payload, error => {
        if (raw.headersSent) recorders.guard(recorder, () => recorder.exception(error), undefined)
      })
    })
    done()
  })
  app.addHook('onResponse', function markFinish(request, _reply, done) {
    recorders.record(request, recorder => recorder.mark('kernel.finish_request'))
    done()
  })
  app.addHook('onError', function recordFailure(request, _reply, error, done) {
    recorders.record(request, recorder => recorder.failing(error))
    done()
  })
}

type LoggerFactory = Parameters<FastifyInstance['setChildLoggerFactory']>[0]

/**
 * Records the lines of every request's logger, whichever child logger factory is set. A route's `logLevel` limits the
 * application's output but not the profile.
 */
export function followRequestLoggers(app: FastifyInstance, recorders: Recorders): void {
  const isComplete = recordsEveryLevel(app.log)
  const setChildLoggerFactory = app.setChildLoggerFactory
  recordLinesOf(app.log)

  function follow(recorder: Recorder, child: object, level: string | undefined): void {
    markLogger(child, recorder)
    // A factory may make a child of another logger than the one passed to it.
    recordLinesOf(child)
    // Fastify up to 5.12.5 passes an empty string for a route without a level.
    if (!isComplete || level === undefined || level === '') return
    if (recordsEveryLevel(child)) limitLogger(child, level)
    else Reflect.set(child, 'level', level)
  }

  // A proxy keeps the factory's name.
  const following = (factory: LoggerFactory): LoggerFactory =>
    new Proxy(factory, {
      apply(target, self, [logger, bindings, options, raw]: Parameters<LoggerFactory>): unknown {
        const recorder = recorders.of(raw)
        if (recorder === undefined) return Reflect.apply(target, self, [logger, bindings, options, raw])
        const { level, ...others } = options
        const child: unknown = Reflect.apply(target, self, [logger, bindings, isComplete ? others : options, raw])
        // Without logging, all requests share one silent logger. Fastify throws for anything that is not a logger.
        if (child !== logger && isObject(child)) {
          recorders.guard(recorder, () => follow(recorder, child, level), undefined)
        }
        return child
      },
    })

  app.setChildLoggerFactory(following(app.childLoggerFactory))
  Object.defineProperty(app, 'setChildLoggerFactory', {
    configurable: true,
    writable: true,
    value: function (this: FastifyInstance, factory: LoggerFactory): FastifyInstance {
      return setChildLoggerFactory.call(this, following(factory))
    },
  })
}

/** The note for every profile if the profiler does not see all log lines; null if it does. */
export function loggerNote(app: FastifyInstance): string | null {
  if (recordsEveryLevel(app.log)) return null
  if (streamOf(app.log) === null) return "There are no log lines, since the application's logger is not pino."
  return `Log lines below the logger's level (${app.log.level}), or below that of a route or plugin, are missing. Create the logger with profiledLogger().`
}
