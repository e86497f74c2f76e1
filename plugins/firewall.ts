import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { together } from '../src/cache/entity-cache.ts'
import type { ApiToken, Membership, UserRecord } from '../src/entities.ts'
import { type CookieSecrets, type SessionToken, SessionTokens } from '../src/sign-in/session-token.ts'
import { unknownToken } from './bearer.ts'
import { sessionCookie } from './session-cookie.ts'
import { checkWith, passed, refused, type Sentence } from './checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The user who is signed in. Null if there is none. */
    user: User | null
    /** The result of checking the session cookie. Null if there is none or no route, or an API token counts instead. */
    authentication: Authentication | null
  }
}

/** A user who is signed in. */
export interface User extends Omit<UserRecord, 'fingerprint'> {
  readonly groups: readonly Membership[]
}

export type Authentication =
  /** This server did not sign it for this site. */
  | { finding: 'forged'; token: null }
  | { finding: 'valid' | 'expired' | 'signed out' | 'password changed' | 'user deleted'; token: SessionToken }

/** What each finding means. */
const findings: Record<Authentication['finding'], Sentence> = {
  valid: ({ user }) => `The session cookie belongs to ${user?.email}.`,
  forged: 'The session cookie was not signed by this server for this site.',
  expired: 'The session cookie has expired.',
  'signed out': 'The user signed out of this session.',
  'password changed': 'The password has changed since the session cookie was set.',
  'user deleted': 'The user of the session cookie no longer exists.',
}

/** Sets request.user for requests with an API token or the cookie of a valid session. */
async function firewall(app: FastifyInstance, { cookieSecrets }: { cookieSecrets: CookieSecrets }) {
  const { users, memberships, endedSessions } = app.entities
  app.checks.set('firewall', 'Firewall')
  const tokens = new SessionTokens(cookieSecrets)

  app.addHook('onRequest', function identifyUser(request, _reply, done) {
    if (request.apiToken !== null) return identifyByToken(request, request.apiToken, done)
    const { cookie } = request.raw.headers
    if (cookie === undefined) return done(passed(request, 'firewall', 'The request has no session cookie.'))
    // The response to an unmatched path is the same for all users.
    if (request.is404) {
      return done(passed(request, 'firewall', 'The path has no route, so the session cookie was not checked.'))
    }
    const value = valueOf(cookie, sessionCookie(request))
    if (value === undefined) return done(passed(request, 'firewall', 'The request has no session cookie.'))
    const token = tokens.read(value, request.domain)
    if (token === null || token.expires <= Date.now()) {
      request.authentication = token === null ? { finding: 'forged', token } : { finding: 'expired', token }
      return done(passed(request, 'firewall', findings[request.authentication.finding]))
    }
    const { userId, session } = token
    const records = together([users.read(userId), memberships.read(userId), endedSessions.read(session)])
    checkWith(request, 'firewall', records, done, ([user, groups, ended]) => {
      done(admit(request, token, user, groups, ended))
    })
  })

  function identifyByToken(request: FastifyRequest, { user_id: userId }: ApiToken, done: HookHandlerDoneFunction) {
    checkWith(request, 'firewall', together([users.read(userId), memberships.read(userId)]), done, ([user, groups]) => {
      // The tokens of a removed user are removed, too, but this server may not know that yet.
      if (user === null) return done(refused(request, 'firewall', unknownToken(request)))
      request.user = { id: user.id, email: user.email, admin: user.admin, groups }
      done(passed(request, 'firewall', () => `The API token belongs to ${user.email}.`))
    })
  }

  app.decorateRequest('user', null)
  app.decorateRequest('authentication', null)
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
  return passed(request, 'firewall', findings[finding])
}

function findingOf({ fingerprint }: SessionToken, user: UserRecord | null, ended: boolean) {
  if (user === null) return 'user deleted'
  if (user.fingerprint !== fingerprint) return 'password changed'
  return ended ? 'signed out' : 'valid'
}

export default fp(firewall, {
  name: 'firewall',
  dependencies: ['checks', 'license', 'bearer', 'session-cookie'],
  fastify: '5.x',
})
