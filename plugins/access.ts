import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { errorForm } from '../src/errors/error-answer.ts'
import { LicenseNotFoundHttpError, NotAdmittedHttpError, UnauthorizedHttpError } from '../src/errors/http-errors.ts'
import { isLocal, pathOf, queryOf } from '../src/http/request.ts'
import { acceptsTokens } from './bearer.ts'
import type {} from './firewall.ts'
import { passed, refused, tell } from './checks.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** 'optional': the route also answers hosts that have no license. */
    license?: 'optional'
    /** 'public': the route also answers visitors whom the license does not admit, such as those who sign in. */
    access?: 'public'
  }
}

/** A check: the host has a license if the route needs one, and the license admits the user. */
async function access(app: FastifyInstance) {
  app.checks.set('access', 'Access')
  app.addHook('onRequest', function checkAccess(request, reply, done) {
    const { license, user } = request
    // Unmatched paths get a 404 or 405 whatever the license.
    if (request.is404) {
      return done(passed(request, 'access', 'The path has no route, so the license was not checked.'))
    }
    if (license === null) {
      if (request.routeOptions.config.license === 'optional') {
        return done(passed(request, 'access', ({ domain }) => `"${domain}" has no license, and the route needs none.`))
      }
      return done(refused(request, 'access', new LicenseNotFoundHttpError(request.domain, isLocal(request))))
    }
    if (!license.protected) return done(passed(request, 'access', () => `"${license.name}" is open to everybody.`))
    if (request.routeOptions.config.access === 'public') {
      return done(passed(request, 'access', 'The route is public.'))
    }
    reply.varyOn('Cookie')
    if (user === null) return askToSignIn(request, reply, done)
    if (user.admin) return done(passed(request, 'access', 'Admins may enter every site.'))
    const group = user.groups.find(group => group.license_id === license.id)
    if (group !== undefined) {
      return done(passed(request, 'access', () => `The user belongs to "${group.name}", a group of the license.`))
    }
    done(refused(request, 'access', new NotAdmittedHttpError(user.email, signInPath(request))))
  })
}

/** Redirects a browser to the sign-in page. Other clients get a 401. */
function askToSignIn(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  if (!isNavigation(request)) {
    return done(refused(request, 'access', unauthorized(request, 'Sign in to enter this site.')))
  }
  tell(request, 'access', 'refused', 'The browser is redirected to the sign-in page.')
  reply.varyOn('Accept').redirect(signInPath(request), 302)
}

/** The error for a request that needs a user, and has none. */
export function unauthorized(request: FastifyRequest, message: string): UnauthorizedHttpError {
  return new UnauthorizedHttpError(message, request.domain, signInPath(request), acceptsTokens(request))
}

export function isNavigation({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && errorForm(headers.accept) === 'text/html'
}

/** The path of the sign-in page, which then returns to the target of a GET or HEAD request. */
export function signInPath({ method, originalUrl }: FastifyRequest): string {
  if (method !== 'GET' && method !== 'HEAD') return '/login'
  return `/login?next=${encodeURIComponent(pathOf(originalUrl) + queryOf(originalUrl))}`
}

export default fp(access, {
  name: 'access',
  dependencies: ['checks', 'license', 'locale', 'bearer', 'firewall', 'vary'],
  fastify: '5.x',
})
