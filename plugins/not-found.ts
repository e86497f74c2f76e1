import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import {
  MethodNotAllowedHttpError,
  noHeaders,
  NotFoundHttpError,
  RouteResourceNotFoundError,
} from '../src/errors/http-errors.ts'
import { sendFailure } from '../src/errors/send-error.ts'
import type { Constraints } from '../src/http/declared-routes.ts'
import { decodeUtf8, pathOf, queryOf } from '../src/http/request.ts'
import { hasRequest } from './checks.ts'
import { findLicense } from './license.ts'

/** Carries the error of each request without a route. Only made for subscribers, because it is costly. */
export const missingRoutes = channel('portico:missing-route')

interface MissingRoute {
  request: FastifyRequest
  error: NotFoundHttpError
}

export function isMissingRoute(message: unknown): message is MissingRoute {
  return hasRequest(message) && 'error' in message
}

/** For a host without a license: its front page would be a 404, too. */
const noFrontPage = { remedy: null }

/** Answers requests that match no route: with a redirect to the other slash form, a 405 or a 404. */
async function notFound(app: FastifyInstance) {
  const { routeTable } = app

  // The last onRequest hook and not the handler, so preHandler hooks do not run for unmatched requests.
  app.addHook('onRequest', function interruptUnmatched(request, reply, done) {
    if (!request.is404) return done()
    const path = pathOf(request.originalUrl)
    routeTable.deriveConstraints(request.raw, (error, derived) => {
      if (error !== null) return done(error)
      const location = otherSlashForm(request, path, derived)
      if (location !== undefined) {
        reply.header('cache-control', 'no-store').redirect(location, 301)
        return
      }
      const allow = routeTable.methodsOf(path, derived)
      if (allow.length > 0) return done(methodError(request.method, path, allow))
      refuse(request, reply, path)
    })
  })

  app.setNotFoundHandler(async function answerNotFound(request, reply) {
    // Reached by reply.callNotFound() alone, in hooks that may run before that of the license.
    try {
      request.license ??= await findLicense(app.entities, request.host)
      await app.chooseLocale(request, reply)
    } catch {
      // The answer is the same without them, in the default language.
    }
    throw noRouteError(request, pathOf(request.originalUrl))
  })

  function otherSlashForm(request: FastifyRequest, path: string, derived: Constraints | undefined): string | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
    if (other === '' || !routeTable.has('GET', other, derived)) return undefined
    return `${request.protocol}://${request.host}${other}${queryOf(request.originalUrl)}`
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply, path: string): void {
  if (missingRoutes.hasSubscribers) {
    missingRoutes.publish({ request, error: noRouteError(request, path) } satisfies MissingRoute)
  }
  const advice = request.license === null ? noFrontPage : undefined
  sendFailure(404, noRouteMessage(request, path), noHeaders, request, reply.varyOn('Accept'), advice)
}

function methodError(method: string, path: string, allow: readonly string[]): MethodNotAllowedHttpError {
  return new MethodNotAllowedHttpError(
    `No route found for "${method} ${path}": Method Not Allowed (Allow: ${allow.join(', ')})`,
    allow,
  )
}

function noRouteError(request: FastifyRequest, path: string): NotFoundHttpError {
  const slashed = path.endsWith('/') ? path : `${path}/`
  const cause = new RouteResourceNotFoundError(`No routes found for "${slashed}"`)
  return new NotFoundHttpError(noRouteMessage(request, path), { cause })
}

function noRouteMessage({ method, headers: { referer } }: FastifyRequest, path: string): string {
  return `No route found for "${method} ${path}"${referer ? ` (from "${decodeUtf8(referer)}")` : ''}`
}

export default fp(notFound, {
  name: 'not-found',
  dependencies: ['entities', 'route-table', 'request-checker'],
  fastify: '5.x',
})
