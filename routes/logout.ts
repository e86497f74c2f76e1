import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { endSession } from '../src/sign-in/account.ts'

/** In bytes. The form has no fields. */
const bodyLimit = 1024

/** POST /logout: ends the session on the server, so that copies of its cookie are invalid, too. */
export default async function logout(app: FastifyInstance) {
  await app.register(formbody, { bodyLimit })

  app.post('/logout', { config: { access: 'public' }, bodyLimit }, async function signOut(request, reply) {
    const { authentication } = request
    if (authentication?.finding === 'valid') {
      const { token } = authentication
      await endSession(app.database.db, app.entityCache, token)
      request.log.info({ user: token.userId }, 'Signed out')
    }
    return reply.clearSession().redirect('/', 303)
  })
}
