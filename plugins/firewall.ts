import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import type { Membership } from '../src/entities/membership.ts'
import type { UserRecord } from '../src/entities/user.ts'
import { lifetimeOf, nameSession, type SessionToken, SessionTokens } from '../src/sign-in/session-token.ts'
import { passed, refused, waiting } from './verdicts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The user who is signed in. Null if there is none. */
    user: User | null
    /** The result of checking the session cookie. Null if the request has no such cookie or matches no route. */
    authentication: Authentication | null
  }
  interface FastifyReply {
    /** Starts a session, which replaces an existing one. */
    signIn: (user: Pick<UserRecord, 'id' | 'fingerprint'>, remembered: boolean) => FastifyReply
    /** Sets the cookie of a session again, for another lifetime. */
    renewSession: (token: SessionToken) => FastifyReply
    /** Deletes the session cookie. */
    clearSession: () => FastifyReply
  }
}

/** A user who is signed in. */
export interface User {
  readonly id: string
  readonly email: string
  /** Whether the user may enter every protected site. */
  readonly admin: boolean
  readonly groups: readonly Membership[]
}

export type Authentication =
  /** This server did not sign it for this site. */
  | { finding: 'forged'; token: null }
  | { finding: 'valid' | 'expired' | 'signed out' | 'password changed' | 'user deleted'; token: SessionToken }

export interface FirewallOptions {
  /** The first signs cookies, all verify them. */
  cookieSecrets: readonly [string, ...string[]]
}

/** Sets request.user for requests with the cookie of a valid session. */
async function firewall(app: FastifyInstance, { cookieSecrets }: FirewallOptions) {
  const { users, memberships, endedSessions } = app.entities
  const tokens = new SessionTokens(cookieSecrets)

  app.addHook(
    'onRequest',
    function examineCookie(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
      const { cookie } = request.raw.headers
      if (cookie === undefined) return done(passed(request, 'firewall', 'no cookie'))
      // The response to an unmatched path is the same for all users.
      if (request.is404) return done(passed(request, 'firewall', 'no route'))
      const value = valueOf(cookie, sessionCookie(request))
      if (value === undefined) return done(passed(request, 'firewall', 'no cookie'))
      const token = tokens.read(value, request.domain)
      if (token === null || token.expires <= Date.now()) {
        request.authentication = token === null ? { finding: 'forged', token } : { finding: 'expired', token }
        return done(passed(request, 'firewall', request.authentication.finding))
      }
      const user = users.read(token.userId)
      const groups = memberships.read(token.userId)
      const ended = endedSessions.read(token.session)
      if (!(user instanceof Promise || groups instanceof Promise || ended instanceof Promise)) {
        return done(admit(request, token, user, groups, ended))
      }
      waiting(request, 'firewall')
      Promise.all([user, groups, ended]).then(
        ([user, groups, ended]) => {
          done(admit(request, token, user, groups, ended))
        },
        (error: Error) => {
          done(refused(request, 'firewall', error))
        },
      )
    },
  )

  app.decorateRequest('user', null)
  app.decorateRequest('authentication', null)

  app.decorateReply(
    'signIn',
    function signIn(
      this: FastifyReply,
      { id, fingerprint }: Pick<UserRecord, 'id' | 'fingerprint'>,
      remembered: boolean,
    ) {
      return this.renewSession({ userId: id, session: nameSession(), expires: 0, remembered, fingerprint })
    },
  )
  app.decorateReply('renewSession', function renewSession(this: FastifyReply, token: SessionToken) {
    const expires = Date.now() + lifetimeOf(token)
    const value = tokens.sign({ ...token, expires }, this.request.domain)
    passed(this.request, 'session-cookie', 'set')
    return this.setCookie(sessionCookie(this.request), value, {
      ...attributes,
      ...(token.remembered && { expires: new Date(expires) }),
    })
  })
  app.decorateReply('clearSession', function clearSession(this: FastifyReply) {
    passed(this.request, 'session-cookie', 'cleared')
    return this.clearCookie(sessionCookie(this.request), attributes)
  })
}

const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto' } as const

/** With HTTPS, the __Host- prefix keeps other hosts and the network from setting the cookie (RFC 6265bis, 4.1.3). */
export function sessionCookie({ protocol }: FastifyRequest): string {
  return protocol === 'https' ? '__Host-portico_session' : 'portico_session'
}

/** The raw value of a cookie, because parsers strip quotes and decode. Empty if the cookie occurs twice. */
function valueOf(cookies: string, name: string): string | undefined {
  let found: string | undefined
  for (const text of cookies.split(';')) {
    const pair = text.trim()
    if (!pair.startsWith(name) || pair[name.length] !== '=') continue
    found = found === undefined ? pair.slice(name.length + 1) : ''
  }
  return found
}

function admit(
  request: FastifyRequest,
  token: SessionToken,
  user: UserRecord | null,
  groups: readonly Membership[],
  ended: boolean,
): undefined {
  const finding = findingOf(token, user, ended)
  request.authentication = { finding, token }
  if (finding === 'valid' && user !== null) request.user = { id: user.id, email: user.email, admin: user.admin, groups }
  return passed(request, 'firewall', finding, user?.email)
}

function findingOf({ fingerprint }: SessionToken, user: UserRecord | null, ended: boolean) {
  if (user === null) return 'user deleted'
  if (user.fingerprint !== fingerprint) return 'password changed'
  return ended ? 'signed out' : 'valid'
}

export default fp(firewall, { name: 'firewall', dependencies: ['license', '@fastify/cookie'], fastify: '5.x' })
