import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { lifetimeOf } from '../src/sign-in/session-token.ts'
import { type Authentication, sessionCookie } from './firewall.ts'

/** Renews a session's cookie past half its life, so that who keeps coming stays signed in, and clears one that does not hold. */
async function rememberMe(app: FastifyInstance) {
  app.addHook(
    'onSend',
    function rememberUser(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes) {
      const { authentication } = request
      if (authentication !== null) remember(authentication, request, reply)
      done(null, payload)
    },
  )
}

function remember({ finding, token }: Authentication, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode } = reply
  if (finding !== 'valid') {
    // A 401 is the answer to a session that does not hold; of other failed answers it is not the cause.
    if ((statusCode < 400 || statusCode === 401) && !setsSession(request, reply)) reply.clearSession()
  } else if (statusCode < 400 && token.expires - Date.now() < lifetimeOf(token) / 2 && !setsSession(request, reply)) {
    reply.renewSession(token)
  }
}

/** Whether the answer says what becomes of the session already: somebody signed in or out. */
function setsSession(request: FastifyRequest, reply: FastifyReply): boolean {
  return [reply.getHeader('set-cookie')].flat().some(cookie => String(cookie).startsWith(`${sessionCookie(request)}=`))
}

export default fp(rememberMe, { name: 'remember-me', dependencies: ['firewall'], fastify: '5.x' })
