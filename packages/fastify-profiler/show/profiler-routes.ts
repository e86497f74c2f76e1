import type { FastifyInstance } from 'fastify'
import { propertyOf } from '../base/foreign-value.ts'
import type { ViewerAccess } from './viewer-access.ts'
import { assetRoutes } from './routes/asset-routes.ts'
import { bootRoutes } from './routes/boot-routes.ts'
import { browserRoutes } from './routes/browser-routes.ts'
import { compareRoutes } from './routes/compare-routes.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { exceptionRoutes } from './routes/exception-routes.ts'
import { explainRoutes } from './routes/explain-routes.ts'
import { exportRoutes } from './routes/export-routes.ts'
import { pageGuard } from './routes/page-guard.ts'
import type { PageSources } from './routes/page-sources.ts'
import { profileRoutes } from './routes/profile-routes.ts'
import { replayRoutes } from './routes/replay-routes.ts'
import { samplesRoutes } from './routes/samples-routes.ts'
import { searchRoutes } from './routes/search-routes.ts'
import { takeText } from './routes/text-bodies.ts'
import { unknownPageRoute } from './routes/unknown-page-route.ts'
import { statusCodeOf } from './status-code-of.ts'

export interface ProfilerRoutesOptions extends PageSources {
  access: ViewerAccess
}

/** Bytes of a form. */
const formMost = 1000

/** The profiler's pages, in one context: Fastify runs and names onReady hooks differently where contexts are nested. */
export async function profilerRoutes(app: FastifyInstance, options: ProfilerRoutesOptions): Promise<void> {
  app.addHook('onRequest', pageGuard(options.access))
  app.setErrorHandler(function profilerFailed(error, request, reply) {
    const statusCode = statusCodeOf(error)
    reply.code(statusCode).type('text/plain; charset=utf-8')
    // Such as a body that is too large, or a hook of the application.
    if (statusCode < 500) return reply.send(`This request was refused: ${String(propertyOf(error, 'message'))}\n`)
    request.log.error(error, 'The profiler failed to show a page')
    return reply.send('The profiler failed to show this page. See the log for the error.\n')
  })

  takeText(app, '*', formMost)

  searchRoutes(app, options)
  eventRoutes(app, options)
  compareRoutes(app, options)
  bootRoutes(app, options)
  profileRoutes(app, options)
  explainRoutes(app, options)
  replayRoutes(app, options)
  exportRoutes(app, options)
  samplesRoutes(app, options)
  exceptionRoutes(app, options)
  browserRoutes(app, options)
  assetRoutes(app, options)
  unknownPageRoute(app, options)
}
