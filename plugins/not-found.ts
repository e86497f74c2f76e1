import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { areExpectedErrorsTraced, MethodNotAllowedHttpError, noHeaders, NotFoundHttpError, RouteResourceNotFoundError } from '../src/errors/http-errors.ts'
import { sendFailure } from '../src/errors/send-error.ts'
import { pathOf, queryOf } from '../src/target.ts'

/** Answers requests that matched no route: with the other slash form, the methods that the path has, or a 404. */
async function notFound (app: FastifyInstance) {
  const { routeTable } = app

  // The last onRequest hook, and not the handler: kernel.request is what a routing failure interrupts, so that the
  // controller's hooks stay silent.
  app.addHook('onRequest', function interruptUnmatched (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
    if (!request.is404) return done()
    const path = pathOf(request.originalUrl)
    if (routeTable.mayHave(path)) {
      const location = otherSlashForm(request, path)
      if (location !== undefined) {
        reply.header('cache-control', 'no-store').redirect(location, 301)
        return
      }
      const allow = routeTable.methodsOf(path)
      // A route that has the method too was kept from answering by its constraints: to this request it does not exist.
      if (allow.length > 0 && !allow.includes(request.method)) return done(methodError(request.method, path, allow))
    }
    if (areExpectedErrorsTraced()) return done(noRouteError(request, path))
    sendFailure(404, noRouteMessage(request, path), noHeaders, request, reply.varyOn('Accept'))
  })

  app.setNotFoundHandler(function answerNotFound (request) {
    throw noRouteError(request, pathOf(request.originalUrl))
  })

  function otherSlashForm (request: FastifyRequest, path: string): string | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
    if (other === '' || !routeTable.has('GET', other)) return undefined
    return `${request.protocol}://${request.host}${other}${queryOf(request.originalUrl)}`
  }
}

function methodError (method: string, path: string, allow: readonly string[]): MethodNotAllowedHttpError {
  return new MethodNotAllowedHttpError(`No route found for "${method} ${path}": Method Not Allowed (Allow: ${allow.join(', ')})`, allow)
}

function noRouteError (request: FastifyRequest, path: string): NotFoundHttpError {
  const cause = new RouteResourceNotFoundError(`No routes found for "${path.endsWith('/') ? path : `${path}/`}"`)
  return new NotFoundHttpError(noRouteMessage(request, path), { cause })
}

function noRouteMessage ({ method, headers: { referer } }: FastifyRequest, path: string): string {
  return `No route found for "${method} ${path}"${referer ? ` (from "${referer}")` : ''}`
}

export default fp(notFound, { name: 'not-found', dependencies: ['route-table', 'request-checker'], fastify: '5.x' })
