import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { UserRecord } from '../src/entities.ts'
import {
  type CookieSecrets,
  lifetimeOf,
  nameSession,
  type SessionToken,
  SessionTokens,
} from '../src/sign-in/session-token.ts'
import { passed } from './checks.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Starts a session, which replaces an existing one. */
    signIn: (user: Pick<UserRecord, 'id' | 'fingerprint'>, remembered: boolean) => FastifyReply
    /** Sets the cookie of a session again, for another lifetime. */
    renewSession: (token: SessionToken) => FastifyReply
    /** Deletes the session cookie. */
    clearSession: () => FastifyReply
  }
}

const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto' } as const

/** Lets a reply set, renew and delete the session cookie. */
async function sessionCookies(app: FastifyInstance, { cookieSecrets }: { cookieSecrets: CookieSecrets }) {
  const tokens = new SessionTokens(cookieSecrets)

  app.decorateReply('signIn', function signIn({ id, fingerprint }, remembered) {
    return this.renewSession({ userId: id, session: nameSession(), expires: 0, remembered, fingerprint })
  })
  app.decorateReply('renewSession', function renewSession(token) {
    const expires = Date.now() + lifetimeOf(token)
    const value = tokens.sign({ ...token, expires }, this.request.domain)
    passed(this.request, 'session-cookie', 'The response sets a new one.')
    return this.setCookie(sessionCookie(this.request), value, {
      ...attributes,
      ...(token.remembered && { expires: new Date(expires) }),
    })
  })
  app.decorateReply('clearSession', function clearSession() {
    passed(this.request, 'session-cookie', 'The response clears it.')
    return this.clearCookie(sessionCookie(this.request), attributes)
  })
}

/** With HTTPS, the __Host- prefix keeps other hosts and the network from setting the cookie (RFC 6265bis, 4.1.3). */
export function sessionCookie({ protocol }: FastifyRequest): string {
  return protocol === 'https' ? '__Host-portico_session' : 'portico_session'
}

export default fp(sessionCookies, { name: 'session-cookie', dependencies: ['host', '@fastify/cookie'], fastify: '5.x' })
