import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import type { ApiToken } from '../src/entities.ts'
import {
  InsufficientScopeHttpError,
  InvalidTokenHttpError,
  RepeatedCredentialsHttpError,
  TooManyRequestsHttpError,
} from '../src/errors/http-errors.ts'
import { isSafeMethod } from '../src/http/request.ts'
import { Attempts, networkOf } from '../src/sign-in/attempts.ts'
import type { CookieSecrets } from '../src/sign-in/session-token.ts'
import { apiTokenPrefix, hashOfToken } from '../src/sign-in/random-token.ts'
import { keepUse } from '../src/sign-in/token-uses.ts'
import { checkWith, passed, refused } from './checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The API token that authorises the request. Null if there is none. */
    apiToken: ApiToken | null
  }
  interface FastifyContextConfig {
    /** 'accepted': the route accepts API tokens. Others ignore the Authorization header. */
    token?: 'accepted'
  }
}

interface BearerOptions {
  cookieSecrets: CookieSecrets
}

/** The requests with an invalid token per minute and network that get a 401. Further ones get a 429. */
const mostFailures = 60

const scheme = /^bearer\b */i

const severalHeaders = 'There is more than one Authorization header.'
const malformed = 'This is not an API token. A token is "portico_" and 43 more characters.'
const unknown = 'This API token does not exist, or it has been revoked.'

/**
 * Sets request.apiToken for requests with an Authorization header of the scheme Bearer (RFC 6750), on routes that
 * accept tokens. Refuses those whose token is not valid, even if a cookie would do.
 */
async function bearer(app: FastifyInstance, { cookieSecrets: [secret] }: BearerOptions) {
  app.checks.set('bearer', 'API token')
  const { apiTokens } = app.entities
  const { db } = app.database
  // In memory: tokens cannot be guessed, so the limit only has to spare this server.
  const failures = new Attempts({ database: { db, isShared: false }, secret })

  app.addHook('onRequest', function examineToken(request, reply, done) {
    // Unmatched paths and hosts without a license get the same answer whatever the token.
    if (request.is404 || request.license === null || !acceptsTokens(request)) return done()
    reply.varyOn('Authorization')
    const { authorization } = request.raw.headers
    if (authorization === undefined) return done()
    if (isRepeated(request.raw.rawHeaders)) {
      return done(refused(request, 'bearer', new RepeatedCredentialsHttpError(severalHeaders, request.domain)))
    }
    if (!scheme.test(authorization)) {
      return done(passed(request, 'bearer', 'The Authorization header has no bearer token.'))
    }
    const hash = hashOfToken(authorization.replace(scheme, ''), apiTokenPrefix)
    if (hash === null) return fail(request, malformed, done)
    checkWith(request, 'bearer', apiTokens.read(hash), done, token => {
      if (token === null) return fail(request, unknown, done)
      if (token.expires_at !== null && token.expires_at <= Date.now()) {
        return fail(request, 'This API token has expired.', done)
      }
      accept(request, token, done)
    })
  })

  app.decorateRequest('apiToken', null)

  function accept(request: FastifyRequest, token: ApiToken, done: HookHandlerDoneFunction): void {
    keepUse(db, token).catch((error: unknown) => {
      request.log.warn({ err: error }, 'The use of an API token could not be kept.')
    })
    if (token.read_only && !isSafeMethod(request.method)) {
      const error = new InsufficientScopeHttpError('This API token may only read.', request.domain)
      return done(refused(request, 'bearer', error))
    }
    request.apiToken = token
    done(passed(request, 'bearer', () => `The API token "${token.name}" is valid.`))
  }

  /** Refuses an invalid token. Only these are counted, so the limit never refuses a valid one. */
  function fail(request: FastifyRequest, reason: string, done: HookHandlerDoneFunction): void {
    void failures.add(networkOf(request.ip), mostFailures).then(seconds => {
      const tooMany = `Too many requests with an invalid API token. Try again in ${seconds} seconds.`
      const error =
        seconds > 0 ? new TooManyRequestsHttpError(tooMany, seconds) : new InvalidTokenHttpError(reason, request.domain)
      done(refused(request, 'bearer', error))
    })
  }
}

/** Whether an API token may authorise this request. */
export function acceptsTokens(request: FastifyRequest): boolean {
  return request.routeOptions.config.token === 'accepted'
}

/** Whether there are several Authorization headers. Node keeps only the first. */
function isRepeated(rawHeaders: string[]): boolean {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'authorization').length > 1
}

/** The error for a token that does not exist, or does not any more. */
export function unknownToken({ domain }: FastifyRequest): InvalidTokenHttpError {
  return new InvalidTokenHttpError(unknown, domain)
}

export default fp(bearer, { name: 'bearer', dependencies: ['checks', 'database', 'license', 'vary'], fastify: '5.x' })
