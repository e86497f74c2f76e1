import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { whenRead } from '../src/cache/entity-cache.ts'
import { type License, longestDomain } from '../src/entities.ts'
import { LicenseNotFoundHttpError } from '../src/errors/http-errors.ts'
import { isLocal } from '../src/http/local.ts'
import { passed, refused, waiting } from './verdicts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The license of the request's host. Null if there is none. */
    license: License | null
    /** The license, for routes that need one. @throws {LicenseNotFoundHttpError} if there is none */
    requireLicense: () => License
  }
}

/** Sets request.license from the request's host, before any check runs. */
async function license(app: FastifyInstance) {
  const { licenses } = app.entities

  app.addHook(
    'onRequest',
    function lookUpLicense(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
      if (request.domain.length > longestDomain) return done(passed(request, 'license', 'too long'))
      waiting(request, 'license')
      whenRead(
        licenses.read(request.domain),
        license => {
          request.license = license
          done(passed(request, 'license', license === null ? 'none' : 'found'))
        },
        error => {
          done(refused(request, 'license', error))
        },
      )
    },
  )

  app.decorateRequest('license', null)
  app.decorateRequest('requireLicense', function requireLicense(this: FastifyRequest) {
    if (this.license === null) throw new LicenseNotFoundHttpError(this.domain, isLocal(this))
    return this.license
  })
}

export default fp(license, { name: 'license', dependencies: ['entities', 'host'], fastify: '5.x' })
