import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isNavigation, signInPath, unauthorized } from '../plugins/access.ts'
import { type Static, Type } from 'typebox'
import { errorForm } from '../src/errors/error-answer.ts'
import { BadRequestHttpError, ForbiddenHttpError, NotFoundHttpError } from '../src/errors/http-errors.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'
import { findReset, isPassword, replacePassword, useReset } from '../src/records/password-resets.ts'
import { fingerprintOf } from '../src/sign-in/fingerprint.ts'
import { longestPassword } from '../src/sign-in/passwords.ts'
import { answerWithForm, bodyLimit, isForm, refuse, sendPage, takeForms, textOf } from './credential-form.ts'
import {
  type PasswordForm,
  type PasswordProblem,
  renderLinkEnded,
  renderPasswordChanged,
  renderPasswordForm,
} from './password-view.ts'
import type { SignInLimits } from './sign-in-limits.ts'

const text = Type.String({ minLength: 1 })
const newPassword = Type.Object({ password: text, repeated_password: text })
const change = Type.Object({
  current_password: Type.String({ minLength: 1, maxLength: longestPassword }),
  ...newPassword.properties,
})
const reset = Type.Object({ token: text, ...newPassword.properties })

/** GET and POST /password and /password/reset: users change their own password, by the old one or by a link. */
export default async function password(app: FastifyInstance, { limits }: { limits: SignInLimits }) {
  await takeForms(app)
  changeRoutes(app, limits)
  resetRoutes(app, limits)
}

function changeRoutes(app: FastifyInstance, limits: SignInLimits): void {
  const { database, entityCache } = app

  app.get('/password', { config: { access: 'public' } }, async function showPassword(request, reply) {
    reply.varyOn('Accept, Cookie')
    if (request.user === null && isNavigation(request)) {
      return reply.header('cache-control', 'no-store').redirect(signInPath(request), 302)
    }
    return sendPage(reply, renderPasswordForm(request, { user: userOf(request) }))
  })

  app.post<{ Body: Static<typeof change> }>(
    '/password',
    {
      config: { access: 'public', crossSite: 'refused' },
      bodyLimit,
      schema: { body: change },
      onRequest: [requireUser, limits.limitAddress],
      preHandler: async function limitOwnAccount(request) {
        await limits.limitAccount(request, userOf(request).email)
      },
      errorHandler: answerWithForm((problem, request, reply) =>
        sendFormAgain(problem, { user: userOf(request) }, request, reply),
      ),
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
      request.log.info({ user: user.id }, 'Changed their own password')
      // The new password ends all sessions. This one goes on as a new one, remembered if it was.
      reply.signIn(
        { id: user.id, fingerprint: fingerprintOf(hash) },
        request.authentication?.token?.remembered === true,
      )
      return confirmChange({ isSignedIn: true }, request, reply)
    },
  )
}

async function requireUser(request: FastifyRequest): Promise<void> {
  userOf(request)
}

function userOf(request: FastifyRequest) {
  if (request.user !== null) return request.user
  throw unauthorized(request, 'Sign in to change your password.')
}

/**
 * GET and POST /password/reset: a link by which a user chooses a new password. Its token is in the query, which logs
 * leave out and profiles mask. Only the POST uses it up, because programs that scan mail open links.
 */
function resetRoutes(app: FastifyInstance, limits: SignInLimits): void {
  const { database, entityCache } = app

  app.get<{ Querystring: { token?: unknown } }>(
    '/password/reset',
    { config: { access: 'public' }, onSend: hideToken },
    async function showReset(request, reply) {
      const token = textOf(request.query, 'token')
      if ((await findReset(database.db, token)) === undefined) return refuseLink(request, reply)
      return sendPage(reply, renderPasswordForm(request, { token }))
    },
  )

  app.post<{ Body: Static<typeof reset> }>(
    '/password/reset',
    {
      // The token in the body is what counts, so a cookie needs no protection. Browsers send "Origin: null" from a page
      // with "Referrer-Policy: no-referrer".
      config: { access: 'public', crossSite: 'accepted' },
      bodyLimit,
      schema: { body: reset },
      onRequest: limits.limitAddress,
      onSend: hideToken,
      errorHandler: answerWithForm((problem, request, reply) =>
        sendFormAgain(problem, { token: textOf(request.body, 'token') }, request, reply),
      ),
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
  return sendPage(reply.code(404), renderLinkEnded(request))
}

/** The page's address has the token, so no request that follows may name it as its referrer. */
function hideToken(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes): void {
  reply.header('referrer-policy', 'no-referrer')
  done(null, payload)
}

function problemOf({ password, repeated_password: repeated }: Static<typeof newPassword>): PasswordProblem | undefined {
  if (password !== repeated) return 'different'
  return isPassword(password) ? undefined : 'unfit'
}

function refusePassword(
  problem: PasswordProblem,
  form: PasswordForm,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const ErrorClass = problem === 'wrong' ? ForbiddenHttpError : BadRequestHttpError
  const error = new ErrorClass(visitorWords('en').password[problem])
  return refuse(error, request, reply, () => sendFormAgain(problem, form, request, reply))
}

function sendFormAgain(
  problem: PasswordProblem,
  form: PasswordForm,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return sendPage(reply, renderPasswordForm(request, form, problem))
}

/** Tells a browser that the password is changed, by a page; others by the status alone. */
function confirmChange(outcome: { isSignedIn: boolean }, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isForm(request)) return reply.code(204).header('cache-control', 'no-store').send()
  return sendPage(reply, renderPasswordChanged(request, outcome))
}
