import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { BadRequestHttpError, ForbiddenHttpError } from '../src/errors/http-errors.ts'
import { decodeUtf8, isSafeMethod } from '../src/http/request.ts'
import type {} from './bearer.ts'
import { passed, refused } from './checks.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * 'refused': refuses unsafe requests from other sites even without a cookie, for routes that set one. 'accepted':
     * accepts them even with a cookie, for routes that ignore it.
     */
    crossSite?: 'refused' | 'accepted'
  }
}

/**
 * A check: the request is well-formed and not a cross-site request forgery. Forwarded headers and the host
 * have their own plugins, and targets that cannot be decoded do not get here.
 */
async function requestChecker(app: FastifyInstance) {
  app.checks.set('request-checker', 'Request checker')
  app.addHook('onRequest', function checkRequest(request, _reply, done) {
    const { method, headers, host } = request
    if (isSafeMethod(method)) {
      return done(passed(request, 'request-checker', ({ method }) => `${method} is a safe method.`))
    }
    const override = headers['x-http-method-override']
    if (method === 'POST' && override !== undefined && !/^[A-Za-z]+$/.test(String(override))) {
      const error = new BadRequestHttpError(`Invalid method override "${decodeUtf8(String(override))}".`)
      return done(refused(request, 'request-checker', error))
    }
    // Bearer wins over a cookie, so the cookie is not what authorises this request.
    if (request.apiToken !== null) return done(passed(request, 'request-checker', withToken))
    const { crossSite } = request.routeOptions.config
    if (crossSite === 'accepted') return done(passed(request, 'request-checker', ignoringCookies))
    if (headers.cookie === undefined && crossSite !== 'refused') {
      return done(passed(request, 'request-checker', 'The request has no cookie, so it cannot act as a user.'))
    }
    const evidence = evidenceOfSameSite(headers['sec-fetch-site'], headers.origin, host)
    if (evidence !== null) return done(passed(request, 'request-checker', evidence))
    done(refused(request, 'request-checker', new ForbiddenHttpError('This request came from another site.')))
  })
}

const withToken = 'The request has an API token, which browsers do not send by themselves.'
const ignoringCookies = 'The route ignores cookies, so other sites gain nothing by them.'

/**
 * Why a request counts as this site's own. Null if it came from another site. Browsers without Sec-Fetch-Site send
 * Origin with every unsafe request, so a client that sends neither is not a browser.
 */
function evidenceOfSameSite(fetchSite: string | string[] | undefined, origin: string | undefined, host: string) {
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none' ? bySite : null
  if (origin === undefined) return 'The request has neither Sec-Fetch-Site nor Origin, so no browser sent it.'
  if (!URL.canParse(origin)) return null
  const { protocol, host: originHost } = new URL(origin)
  // An Origin omits its scheme's default port, which a proxy may add to the Host.
  const own = `${protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === originHost ? byOrigin : null
}

function bySite({ headers }: FastifyRequest): string {
  return `Sec-Fetch-Site is "${headers['sec-fetch-site']}": the request comes from this site.`
}

function byOrigin({ headers }: FastifyRequest): string {
  return `Origin is "${headers.origin}": the request comes from this site.`
}

export default fp(requestChecker, {
  name: 'request-checker',
  dependencies: ['checks', 'access', 'bearer'],
  fastify: '5.x',
})
