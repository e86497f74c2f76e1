import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Entities, type License, longestDomain } from '../src/entities.ts'
import { LicenseNotFoundHttpError } from '../src/errors/http-errors.ts'
import { normaliseHost } from '../src/http/host.ts'
import { isLocal } from '../src/http/request.ts'
import { checkWith, passed } from './checks.ts'

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
  app.checks.set('license', 'License')

  app.addHook('onRequest', function lookUpLicense(request, _reply, done) {
    checkWith(request, 'license', licenseOf(app.entities, request.domain), done, license => {
      request.license = license
      done(passed(request, 'license', license === null ? noLicense : aLicense))
    })
  })

  app.decorateRequest('license', null)
  app.decorateRequest('requireLicense', function requireLicense() {
    if (this.license === null) throw new LicenseNotFoundHttpError(this.domain, isLocal(this))
    return this.license
  })
}

/** The license of a host, as a request names it. Null if there is none. */
export function findLicense(entities: Entities, host: string): License | null | Promise<License | null> {
  const domain = normaliseHost(host)
  return domain === null ? null : licenseOf(entities, domain)
}

function licenseOf({ licenses }: Entities, domain: string): License | null | Promise<License | null> {
  return domain.length > longestDomain ? null : licenses.read(domain)
}

function aLicense({ domain }: FastifyRequest): string {
  return `"${domain}" has a license.`
}

function noLicense({ domain }: FastifyRequest): string {
  if (domain.length > longestDomain) return 'The host is longer than any license domain.'
  return `The domain "${domain}" has no license, or its license has no type.`
}

export default fp(license, { name: 'license', dependencies: ['checks', 'entities', 'host'], fastify: '5.x' })
