import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import { type AnyFunction, attempt, propertyOf, setMethod, whenThere } from '../foreign-value.ts'
import { pathOfUrl } from '../urls.ts'
import { pathOptions } from '../watch/known-routes.ts'
import { pageGuard, statusCodeOf, takeText } from './page-guard.ts'
import { features, type PageSources } from '../feature.ts'
import type { ViewerAccess } from './viewer-access.ts'

const declaring = [
  'addContentTypeParser',
  'addHook',
  'get',
  'post',
  'removeAllContentTypeParsers',
  'setErrorHandler',
] as const

type DeclaringMethods = readonly (readonly [name: string, method: AnyFunction])[]

interface ProfilerRoutesOptions extends PageSources {
  access: ViewerAccess
  methods: DeclaringMethods
}

/** Taken early, because an application may replace its methods, such as in a test that counts its calls. */
export function declaringMethods(app: FastifyInstance): DeclaringMethods {
  return declaring.map(name => [name, app[name]])
}

/** Bytes of a form. */
const formMost = 1000

/** The profiler's pages, in one context: Fastify runs and names onReady hooks differently where contexts are nested. */
export async function profilerRoutes(app: FastifyInstance, options: ProfilerRoutesOptions): Promise<void> {
  for (const [name, method] of options.methods) setMethod(app, name, method)
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

  for (const { routes } of features) routes?.(app, options)
}

/** Carries the status for error handlers. The Allow header is set on the reply, where no handler drops it. */
class MethodNotAllowedError extends Error {
  override readonly name = 'MethodNotAllowedError'
  readonly code = 'PROFILER_METHOD_NOT_ALLOWED'
  readonly statusCode = 405
}

/**
 * Rejects other methods on the profiler's pages with 405 and Allow, through the application's error handler. For
 * clients without access they stay unknown paths. Must be registered before the pages.
 */
export function refuseOtherMethods(app: FastifyInstance, base: string, access: ViewerAccess): void {
  const pages = FindMyWay(pathOptions(app))
  const declared = new Set<HTTPMethod>()

  app.addHook('onRoute', function declare({ method, url }) {
    // The catch-all route serves no page.
    if (!`${url}/`.startsWith(`${base}/`) || url.endsWith('*')) return
    for (const each of [method].flat()) {
      // Fastify adds a HEAD route for every GET route.
      if (each === 'HEAD' || !isMethod(each)) continue
      declared.add(each)
      pages.on(each, url, String)
    }
  })

  app.addHook('onRequest', function refuseMethod(request, reply, done) {
    if (!request.is404) return done()
    const path = pathOfUrl(request.url)
    const allow = [...declared].filter(method => pages.find(method, path) !== null).join(', ')
    if (allow === '') return done()
    void whenThere(
      // isTrustedHost is application code and may throw.
      attempt(() => access.judge(request.raw), 'host'),
      verdict => {
        if (verdict !== 'allowed') return done()
        reply.header('allow', allow)
        const message = `No route found for "${request.method} ${path}": Method Not Allowed (Allow: ${allow})`
        done(new MethodNotAllowedError(message))
      },
      () => done(),
    )
  })
}

function isMethod(method: string): method is HTTPMethod {
  return METHODS.includes(method)
}
