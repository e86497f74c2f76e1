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
 * The profiler's own hooks: where a request is, that it is being answered, and what went wrong in Fastify
 * itself. Added before anything is traced, and so in no profile.
 */
export function addRequestHooks(app: FastifyInstance, exchanges: Exchanges, recorders: Recorders): void {
  app.addHook('onRequest', (request, reply, done) => {
    exchanges.enter(request, reply)
    recorders.record(request, recorder => recorder.mark('kernel.request'))
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    recorders.record(request, recorder => {
      recorder.calls.validated()
      recorder.mark('kernel.controller')
    })
    done()
  })
  app.addHook('onSend', (request, { raw }, payload, done) => {
    recorders.record(request, recorder => {
      recorder.calls.answering()
      recorder.mark('kernel.response')
      // Before its head is out, Fastify tells the error handlers.
      watchWebStream(payload, error => {
        if (raw.headersSent) recorders.guard(recorder, () => recorder.exception(error), undefined)
      })
    })
    done()
  })
  app.addHook('onResponse', (request, _reply, done) => {
    recorders.record(request, recorder => recorder.mark('kernel.finish_request'))
    done()
  })
  app.addHook('onError', (request, _reply, error, done) => {
    recorders.record(request, recorder => recorder.failing(error))
    done()
  })
}

type LoggerFactory = Parameters<FastifyInstance['setChildLoggerFactory']>[0]

/**
 * Gives every request's logger to its recorder, whichever factory the application or a plugin of its own sets. A
 * route's own level keeps lines from the application's output, not from the profile.
 */
export function followRequestLoggers(app: FastifyInstance, recorders: Recorders): void {
  const isComplete = recordsEveryLevel(app.log)
  const setChildLoggerFactory = app.setChildLoggerFactory
  recordLinesOf(app.log)

  function follow(recorder: Recorder, child: object, level: string | undefined): void {
    markLogger(child, recorder)
    // A factory may make it from another logger than the one it is given.
    recordLinesOf(child)
    // Fastify up to 5.12.5 passes an empty level for a route that has none of its own.
    if (!isComplete || level === undefined || level === '') return
    if (recordsEveryLevel(child)) limitLogger(child, level)
    else Reflect.set(child, 'level', level)
  }

  // A proxy, so that the factory that is asked for has the name of the one that was set.
  const following = (factory: LoggerFactory): LoggerFactory =>
    new Proxy(factory, {
      apply(target, self, [logger, bindings, options, raw]: Parameters<LoggerFactory>): unknown {
        const recorder = recorders.of(raw)
        if (recorder === undefined) return Reflect.apply(target, self, [logger, bindings, options, raw])
        const { level, ...others } = options
        const child: unknown = Reflect.apply(target, self, [logger, bindings, isComplete ? others : options, raw])
        // Without logging every request has the same logger, and it writes nothing. What is none Fastify refuses.
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

/** What is to be said in every profile of an application whose logger the profiler does not see whole; null: nothing. */
export function loggerNote(app: FastifyInstance): string | null {
  if (recordsEveryLevel(app.log)) return null
  if (streamOf(app.log) === null) return "The application has no logger of pino's, so that there are no log lines."
  return `Log lines below the logger's level (${app.log.level}), or below that of a route or a plugin, are missing: make the logger with profiledLogger().`
}
