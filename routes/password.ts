import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isNavigation, signInPath } from '../plugins/access.ts'
import { UnauthorizedHttpError } from '../src/errors/http-errors.ts'
import { replacePassword } from '../src/records/passwords.ts'
import { fingerprintOf } from '../src/sign-in/fingerprint.ts'
import { longestPassword } from '../src/sign-in/passwords.ts'
import { bodyLimit, takeForms } from './form-body.ts'
import {
  answerThrown,
  confirmChange,
  type NewPassword,
  problemOf,
  refusePassword,
  sendPasswordPage,
  siteOf,
} from './password-answer.ts'
import { renderPasswordForm } from './password-view.ts'
import type { SignInLimits } from './sign-in-limits.ts'

interface Change extends NewPassword {
  current_password: string
}

const text = { type: 'string', minLength: 1 }
const change = {
  type: 'object',
  required: ['current_password', 'password', 'repeated_password'],
  properties: { current_password: { ...text, maxLength: longestPassword }, password: text, repeated_password: text },
}

export interface PasswordOptions {
  limits: SignInLimits
}

/** GET and POST /password: users change their own password. */
export default async function password(app: FastifyInstance, { limits }: PasswordOptions) {
  await takeForms(app)
  const { database, entityCache } = app

  app.get('/password', { config: { access: 'public' } }, async function showPassword(request, reply) {
    reply.varyOn('Accept, Cookie')
    if (request.user === null && isNavigation(request)) {
      return reply.header('cache-control', 'no-store').redirect(signInPath(request), 302)
    }
    return sendPasswordPage(reply, renderPasswordForm(siteOf(request), { user: userOf(request) }))
  })

  app.post<{ Body: Change }>(
    '/password',
    {
      config: { access: 'public', crossSite: 'refused' },
      bodyLimit,
      schema: { body: change },
      onRequest: [requireUser, limits.limitAddress],
      preHandler: async function limitOwnAccount(request) {
        await limits.limitAccount(request, userOf(request).email)
      },
      errorHandler: function answerWithForm(error, request, reply) {
        return answerThrown(error, request.user === null ? null : { user: request.user }, request, reply)
      },
    },
    async function changePassword(request, reply) {
      const user = userOf(request)
      const problem = problemOf(request.body)
      if (problem !== undefined) return refusePassword(problem, { user }, request, reply)
      const account = await database.db
        .selectFrom('users')
        .select(['id', 'password_hash'])
        .where('id', '=', user.id)
        .executeTakeFirst()
      const isRight = await limits.verifyPassword(request, request.body.current_password, account?.password_hash)
      const hash =
        isRight && account !== undefined ? await replacePassword(database.db, account, request.body.password) : null
      if (hash === null) {
        request.log.info('A change of a password failed')
        return refusePassword('wrong', { user }, request, reply)
      }
      // The next request may arrive before the database's notification.
      entityCache.change('users', user.id)
      request.log.info({ user: user.id }, 'Changed the own password')
      // The new password ends all sessions. This one goes on as a new one, remembered if it was.
      reply.signIn(
        { id: user.id, fingerprint: fingerprintOf(hash) },
        request.authentication?.token?.remembered === true,
      )
      return confirmChange({ isSignedIn: true }, request, reply)
    },
  )
}

/** An onRequest hook that refuses requests without a session. */
async function requireUser(request: FastifyRequest): Promise<void> {
  userOf(request)
}

/** @throws {UnauthorizedHttpError} if nobody is signed in */
function userOf(request: FastifyRequest) {
  if (request.user !== null) return request.user
  throw new UnauthorizedHttpError('Sign in to change your password.', request.domain, signInPath(request))
}
