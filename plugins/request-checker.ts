import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { BadRequestHttpError, ForbiddenHttpError, type HttpError } from '../src/errors/http-errors.ts'
import { decodeUtf8 } from '../src/http/utf8.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** 'refused': an unsafe request from another site is refused even where it carries no cookie, as one that would set some. */
    crossSite?: 'refused'
  }
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/**
 * The third check: the request is well-formed, and does not come from another site in this one's name. Forwarded
 * headers and the host were checked where they are read, and a target that cannot be decoded never comes this far.
 */
async function requestChecker(app: FastifyInstance) {
  app.addHook(
    'onRequest',
    function checkRequest(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
      done(safeMethods.has(request.method) ? undefined : objectionTo(request))
    },
  )
}

function objectionTo({ method, headers, host, routeOptions }: FastifyRequest): HttpError | undefined {
  const override = headers['x-http-method-override']
  if (method === 'POST' && override !== undefined && !/^[A-Za-z]+$/.test(String(override))) {
    return new BadRequestHttpError(`Invalid method override "${decodeUtf8(String(override))}".`)
  }
  const actsForSomebody = headers.cookie !== undefined || routeOptions.config.crossSite === 'refused'
  if (actsForSomebody && isFromAnotherSite(headers['sec-fetch-site'], headers.origin, host)) {
    return new ForbiddenHttpError('This request came from another site.')
  }
}

/** Browsers that do not send Sec-Fetch-Site send Origin with every unsafe request; who sends neither is no browser. */
function isFromAnotherSite(
  fetchSite: string | string[] | undefined,
  origin: string | undefined,
  host: string,
): boolean {
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'
  if (origin === undefined) return false
  if (!URL.canParse(origin)) return true
  const { protocol, host: originHost } = new URL(origin)
  // An Origin leaves out the port that its scheme implies, which a proxy may put into the Host.
  const own = `${protocol}//${host}`
  return !URL.canParse(own) || new URL(own).host !== originHost
}

export default fp(requestChecker, { name: 'request-checker', dependencies: ['access'], fastify: '5.x' })
