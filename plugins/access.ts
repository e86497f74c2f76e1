import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { LicenseNotFoundHttpError, UnauthorizedHttpError } from '../src/errors/http-errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** 'optional': the route also answers hosts that have no license. */
    license?: 'optional'
  }
}

/** The second check: the host has a license where the route needs one, and the license lets the user in. */
async function access (app: FastifyInstance) {
  app.addHook('onRequest', function checkAccess (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
    const { license } = request
    // An unmatched path is answered as such, whatever the license.
    if (request.is404) return done()
    if (license === null) {
      const needsLicense = request.routeOptions.config.license !== 'optional'
      return done(needsLicense ? new LicenseNotFoundHttpError(request.domain) : undefined)
    }
    if (license.protected) return done(new UnauthorizedHttpError('Sign in to enter this site.', `Session realm="${license.domain}"`))
    done()
  })
}

export default fp(access, { name: 'access', dependencies: ['license', 'locale'], fastify: '5.x' })
