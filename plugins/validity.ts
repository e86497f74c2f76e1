import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { SiteClosedHttpError } from '../src/errors/http-errors.ts'
import { limitLifetime } from '../src/http/lifetime.ts'
import { type Closure, closureOf } from '../src/records/closure.ts'
import { signInPath } from './access.ts'
import { passed, refused } from './checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the site is closed to everybody but admins. Null if it is open, or the host has no license. */
    closure: Closure | null
  }
}

/**
 * Refuses requests while the license is not valid or is suspended. Admins pass, and so does everybody
 * on public routes, such as the one to sign in. Looks at the clock each time, because the license is cached.
 */
async function validity(app: FastifyInstance) {
  app.checks.set('validity', 'Validity')
  app.addHook('onRequest', function checkValidity(request, reply, done) {
    const { license, user } = request
    if (license === null) {
      return done(passed(request, 'validity', ({ domain }) => `"${domain}" has no license.`))
    }
    const closure = closureOf(license, Date.now())
    if (closure === null) return done(passed(request, 'validity', 'The license is valid now.'))
    request.closure = closure
    // Unmatched paths get a 404 or 405 whatever the license.
    if (request.is404) {
      return done(passed(request, 'validity', 'The path has no route, so the license was not checked.'))
    }
    reply.varyOn('Cookie')
    if (user?.admin === true) {
      return done(passed(request, 'validity', () => `Only admins see the site: ${describe(closure)}`))
    }
    if (request.routeOptions.config.access === 'public') {
      return done(passed(request, 'validity', 'The license is not valid now, but the route is public.'))
    }
    done(refused(request, 'validity', new SiteClosedHttpError(describe(closure), closure, signInPath(request))))
  })

  app.addHook('onSend', function limitCaching(request, reply, payload, done) {
    const { closure, license } = request
    if (closure !== null) reply.header('cache-control', 'no-store')
    else if (license !== null && license.valid_until !== null) limitLifetimeOf(reply, license.valid_until)
    done(null, payload)
  })

  app.decorateRequest('closure', null)
}

function describe(closure: Closure): string {
  switch (closure.reason) {
    case 'asleep':
      return `This site opens on ${closure.until.toUTCString()}.`
    case 'suspended':
      return 'This site is suspended.'
    case 'ended':
      return `This site closed on ${closure.since.toUTCString()}.`
  }
}

/** Keeps caches from showing a page after the site has closed. */
function limitLifetimeOf(reply: FastifyReply, end: Date): void {
  const stated = reply.getHeader('cache-control')
  if (stated === undefined) return
  const seconds = Math.max(0, Math.floor((end.getTime() - Date.now()) / 1000))
  reply.header('cache-control', limitLifetime(String(stated), seconds))
}

export default fp(validity, {
  name: 'validity',
  dependencies: ['checks', 'firewall', 'locale', 'vary'],
  fastify: '5.x',
})
