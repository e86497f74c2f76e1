import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { lifetimeOf } from '../src/sign-in/session-token.ts'
import type { Authentication } from './firewall.ts'
import { sessionCookie } from './session-cookie.ts'
import { passed } from './checks.ts'

/** Renews a session's cookie in the second half of its lifetime, and clears the cookie of an invalid session. */
async function rememberMe(app: FastifyInstance) {
  app.addHook('onSend', function rememberUser(request, reply, payload, done) {
    const { authentication } = request
    if (authentication !== null) remember(authentication, request, reply)
    done(null, payload)
  })
}

function remember({ finding, token }: Authentication, request: FastifyRequest, reply: FastifyReply): void {
  // The route signed the user in or out.
  if (setsSession(request, reply)) return
  const hasFailed = reply.statusCode >= 400
  // An invalid session causes a 401, but no other error.
  if (finding !== 'valid' && (!hasFailed || reply.statusCode === 401)) reply.clearSession()
  else if (finding !== 'valid' || hasFailed) {
    passed(request, 'session-cookie', 'The response leaves it unchanged: it is an error with another cause.')
  } else if (token.expires - Date.now() < lifetimeOf(token) / 2) reply.renewSession(token)
  else passed(request, 'session-cookie', 'The response leaves it unchanged: more than half of its lifetime is left.')
}

function setsSession(request: FastifyRequest, reply: FastifyReply): boolean {
  const cookies = reply.getHeader('set-cookie')
  if (cookies === undefined) return false
  return [cookies].flat().some(cookie => String(cookie).startsWith(`${sessionCookie(request)}=`))
}

export default fp(rememberMe, { name: 'remember-me', dependencies: ['firewall', 'session-cookie'], fastify: '5.x' })
