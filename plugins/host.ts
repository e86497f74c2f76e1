import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { normaliseHost } from '../src/host.ts'
import { authorityOf } from '../src/target.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's host as licenses know it: without port, lower-cased. */
    domain: string
  }
}

/** Sets request.domain, and refuses a request whose host is invalid before anything is looked up by it. */
async function host (app: FastifyInstance) {
  app.addHook('onRequest', function validateHost (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
    const stated = statedHosts(request)
    const domain = stated.length === 1 ? normaliseHost(request.host) : null
    if (domain === null) return done(new BadRequestHttpError(`Invalid Host "${stated.length === 1 ? request.host : stated.join(', ')}".`))
    request.domain = domain
    done()
  })

  app.decorateRequest('domain', '')
}

/** The Host headers, of which Node keeps only the first, and a target's authority that is another (RFC 9112, section 3.2.2). */
function statedHosts ({ raw: { rawHeaders }, originalUrl }: FastifyRequest): string[] {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && isHost(rawHeaders[index - 1]))
  const authority = authorityOf(originalUrl)
  if (authority !== undefined && authority !== hosts[0]) hosts.push(authority)
  return hosts
}

function isHost (name: string | undefined): boolean {
  return name?.length === 4 && name.toLowerCase() === 'host'
}

export default fp(host, { name: 'host', fastify: '5.x' })
