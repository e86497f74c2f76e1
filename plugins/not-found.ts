import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { type HttpError, MethodNotAllowedHttpError, NotFoundHttpError, RouteResourceNotFoundError } from '../src/errors/http-errors.ts'
import { pathOf, queryOf } from '../src/target.ts'

/** Answers requests that matched no route: with the other slash form, the methods that the path has, or a 404. */
async function notFound (app: FastifyInstance) {
  const { routeTable } = app

  // The last onRequest hook, and not the handler: kernel.request is what a routing failure interrupts, so that the
  // controller's hooks stay silent.
  app.addHook('onRequest', function interruptUnmatched (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
    if (!request.is404) return done()
    const location = otherSlashForm(request)
    if (location === undefined) done(routingError(request))
    else reply.redirect(location, 301)
  })

  app.setNotFoundHandler(function answerNotFound (request) {
    throw noRouteError(request)
  })

  function otherSlashForm ({ method, originalUrl, protocol, host }: FastifyRequest): string | undefined {
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const path = pathOf(originalUrl)
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
    if (other === '' || !routeTable.has('GET', other)) return undefined
    return `${protocol}://${host}${other}${queryOf(originalUrl)}`
  }

  function routingError (request: FastifyRequest): HttpError {
    const { method, originalUrl } = request
    const path = pathOf(originalUrl)
    const allow = routeTable.methodsOf(path)
    // A route that has the method too was kept from answering by its constraints: to this request it does not exist.
    if (allow.length === 0 || allow.includes(method)) return noRouteError(request)
    return new MethodNotAllowedHttpError(`No route found for "${method} ${path}": Method Not Allowed (Allow: ${allow.join(', ')})`, allow)
  }
}

function noRouteError ({ method, originalUrl, headers }: FastifyRequest): NotFoundHttpError {
  const path = pathOf(originalUrl)
  const suffix = headers.referer ? ` (from "${headers.referer}")` : ''
  const cause = new RouteResourceNotFoundError(`No routes found for "${path.endsWith('/') ? path : `${path}/`}"`)
  return new NotFoundHttpError(`No route found for "${method} ${path}"${suffix}`, { cause })
}

export default fp(notFound, { name: 'not-found', dependencies: ['route-table', 'request-checker'], fastify: '5.x' })
