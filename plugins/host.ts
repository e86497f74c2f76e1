import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { normaliseHost } from '../src/http/host.ts'
import { decodeUtf8, isTarget } from '../src/http/request.ts'
import { passed, refused } from './checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's host as licenses store it: without port, in lower case. */
    domain: string
  }
}

/** Sets request.domain. Refuses requests whose host or target is invalid, before any lookup. */
async function host(app: FastifyInstance) {
  app.checks.set('host', 'Host')
  app.addHook('onRequest', function validateHost(request, _reply, done) {
    const { rawHeaders } = request.raw
    if (isStatedTwice(rawHeaders)) return done(refused(request, 'host', invalid(hostHeaders(rawHeaders).join(', '))))
    const domain = normaliseHost(request.host)
    if (domain === null) return done(refused(request, 'host', invalid(request.host)))
    const { method, originalUrl } = request
    if (!isTarget(method, originalUrl)) {
      return done(refused(request, 'host', new BadRequestHttpError(`Invalid request target "${originalUrl}".`)))
    }
    request.domain = domain
    done(passed(request, 'host', ({ domain }) => `"${domain}" is a valid host.`))
  })

  app.decorateRequest('domain', '')
}

/** Whether there are several Host headers. Node keeps only the first. */
function isStatedTwice(rawHeaders: string[]): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (isHost(rawHeaders[index])) count++
  return count > 1
}

function hostHeaders(rawHeaders: string[]): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && isHost(rawHeaders[index - 1]))
}

function isHost(name: string | undefined): boolean {
  return name?.length === 4 && name.toLowerCase() === 'host'
}

function invalid(host: string): BadRequestHttpError {
  return new BadRequestHttpError(`Invalid Host "${decodeUtf8(host)}".`)
}

export default fp(host, { name: 'host', dependencies: ['checks'], fastify: '5.x' })
