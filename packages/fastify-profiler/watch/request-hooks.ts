import type { FastifyInstance } from 'fastify'
import type { Exchanges } from './exchanges.ts'
import type { Recorders } from './recorders.ts'

/**
 * Adds the profiler's own hooks, which record dispatch points and Fastify's own errors. They are added before the
 * tracer, and so are in no profile. None of them is an onSend hook: with one, Fastify catches what `reply.send` would
 * throw in the application.
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
  app.addHook('onResponse', function markFinish(request, _reply, done) {
    recorders.record(request, recorder => recorder.mark('kernel.finish_request'))
    done()
  })
  app.addHook('onError', function recordFailure(request, _reply, error, done) {
    recorders.record(request, recorder => recorder.failing(error))
    done()
  })
}
