import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorForm } from '../src/errors/error-answer.ts'
import { NotFoundHttpError } from '../src/errors/http-errors.ts'
import { findReset, useReset } from '../src/records/passwords.ts'
import { bodyLimit, takeForms } from './form-body.ts'
import { textOf } from './login-form.ts'
import {
  answerThrown,
  confirmChange,
  type NewPassword,
  problemOf,
  refusePassword,
  sendPasswordPage,
  siteOf,
} from './password-answer.ts'
import { renderLinkEnded, renderPasswordForm } from './password-view.ts'
import type { SignInLimits } from './sign-in-limits.ts'

interface Reset extends NewPassword {
  token: string
}

const text = { type: 'string', minLength: 1 }
const reset = {
  type: 'object',
  required: ['token', 'password', 'repeated_password'],
  properties: { token: text, password: text, repeated_password: text },
}

export interface PasswordResetOptions {
  limits: SignInLimits
}

/**
 * GET and POST /password/reset: a link by which a user chooses a new password. Its token is in the query, which logs
 * leave out and profiles mask. Only the POST uses it up, because programs that scan mail open links.
 */
export default async function passwordReset(app: FastifyInstance, { limits }: PasswordResetOptions) {
  await takeForms(app)
  const { database, entityCache } = app

  app.get<{ Querystring: { token?: unknown } }>(
    '/password/reset',
    { config: { access: 'public' }, onSend: hideToken },
    async function showReset(request, reply) {
      const token = textOf(request.query, 'token')
      if ((await findReset(database.db, token)) === undefined) return refuseLink(request, reply)
      return sendPasswordPage(reply, renderPasswordForm(siteOf(request), { token }))
    },
  )

  app.post<{ Body: Reset }>(
    '/password/reset',
    {
      // The token in the body is what counts, so a cookie needs no protection. Browsers send "Origin: null" from a page
      // with "Referrer-Policy: no-referrer".
      config: { access: 'public', crossSite: 'accepted' },
      bodyLimit,
      schema: { body: reset },
      onRequest: limits.limitAddress,
      onSend: hideToken,
      errorHandler: function answerWithForm(error, request, reply) {
        return answerThrown(error, { token: textOf(request.body, 'token') }, request, reply)
      },
    },
    async function resetPassword(request, reply) {
      const { token, password } = request.body
      const problem = problemOf(request.body)
      if (problem !== undefined) return refusePassword(problem, { token }, request, reply)
      const id = await useReset(database.db, token, password)
      if (id === undefined) return refuseLink(request, reply)
      // The next request may arrive before the database's notification.
      entityCache.change('users', id)
      request.log.info({ user: id }, 'Changed the password by a link')
      return confirmChange({ isSignedIn: false }, request, reply)
    },
  )
}

function refuseLink(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.varyOn('Accept')
  if (errorForm(request.headers.accept) !== 'text/html') {
    throw new NotFoundHttpError('This link does not work any more.', { remedy: null })
  }
  return sendPasswordPage(reply.code(404), renderLinkEnded(siteOf(request)))
}

/** The page's address has the token, so no request that follows may name it as its referrer. */
function hideToken(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes): void {
  reply.header('referrer-policy', 'no-referrer')
  done(null, payload)
}
