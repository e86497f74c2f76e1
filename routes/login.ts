import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { UnauthorizedHttpError } from '../src/errors/http-errors.ts'
import { nextPath } from '../src/http/next-path.ts'
import { html } from '../src/pages/html.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'
import { endSession, findAccount, isEmail, longestEmail, normaliseEmail } from '../src/sign-in/account.ts'
import { fingerprintOf } from '../src/sign-in/fingerprint.ts'
import { longestPassword } from '../src/sign-in/passwords.ts'
import { answerWithForm, bodyLimit, isForm, refuse, sendPage, takeForms, textOf } from './credential-form.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { renderFormPage, renderProblem, renderSession } from './site-view.ts'

const query = Type.Object({ next: Type.Optional(Type.String()) })

const credentials = Type.Object({
  email: Type.String({ maxLength: longestEmail, format: 'email' }),
  password: Type.String({ minLength: 1, maxLength: longestPassword }),
  /** A form sends "on", JSON a boolean. */
  remember: Type.Optional(Type.Unsafe<boolean | 'on'>({ enum: [true, false, 'on'] })),
  ...query.properties,
})

type Credentials = Static<typeof credentials>

/** GET /login shows the form. POST /login takes the form or JSON, and signs in. */
export default async function login(app: FastifyInstance, { limits }: { limits: SignInLimits }) {
  await takeForms(app, { email: text => isEmail(normaliseEmail(text)) })

  app.get<{ Querystring: Static<typeof query> }>(
    '/login',
    { config: { access: 'public' }, schema: { querystring: query } },
    async function showLogin(request, reply) {
      return sendForm(request, reply, { next: nextPath(request.query.next) })
    },
  )

  app.post<{ Body: Credentials }>(
    '/login',
    {
      config: { access: 'public', crossSite: 'refused' },
      bodyLimit,
      schema: { body: credentials },
      onRequest: limits.limitAddress,
      preHandler: async function limitAccount(request) {
        await limits.limitAccount(request, textOf(request.body, 'email'))
      },
      errorHandler: answerWithForm(sendFormAgain),
    },
    signInWith(app, limits),
  )
}

function signInWith({ database: { db }, entityCache }: FastifyInstance, { verifyPassword }: SignInLimits) {
  return async function signIn(request: FastifyRequest<{ Body: Credentials }>, reply: FastifyReply) {
    const { email, password, remember, next } = request.body
    const account = await findAccount(db, normaliseEmail(email))
    if (!(await verifyPassword(request, password, account?.password_hash)) || account === undefined) {
      request.log.info('A sign-in failed')
      const error = new UnauthorizedHttpError('The e-mail address or the password is wrong.', request.domain)
      return refuse(error, request, reply, () => sendFormAgain('wrong', request, reply))
    }
    const { authentication } = request
    if (authentication?.finding === 'valid') await endSession(db, entityCache, authentication.token)
    request.log.info({ user: account.id }, 'Signed in')
    const isRemembered = remember === true || remember === 'on'
    reply
      .header('cache-control', 'no-store')
      .signIn({ id: account.id, fingerprint: fingerprintOf(account.password_hash) }, isRemembered)
    return isForm(request) ? reply.redirect(nextPath(next), 303) : reply.code(204).send()
  }
}

function sendForm(request: FastifyRequest, reply: FastifyReply, form: LoginForm): FastifyReply {
  return sendPage(reply.varyOn('Cookie'), renderLoginPage(request, form))
}

function sendFormAgain(problem: LoginProblem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body } = request
  return sendForm(request, reply, {
    next: nextPath(textOf(body, 'next')),
    email: textOf(body, 'email'),
    remember: textOf(body, 'remember') === 'on',
    problem,
  })
}

interface LoginForm {
  /** The path of this site to go to after signing in. */
  next: string
  email?: string
  remember?: boolean
  problem?: LoginProblem
}

/** Why signing in failed. Never says whether the address or the password was wrong. */
type LoginProblem = 'incomplete' | 'wrong' | 'tooMany'

/** Renders the sign-in page. It also says who is already signed in. */
function renderLoginPage(request: FastifyRequest, form: LoginForm): string {
  const { locale, user } = request
  const { next, email, remember, problem } = form
  const { login: words, signIn } = visitorWords(locale)
  const main = html`${renderProblem(problem && words[problem])}
      <form method="post" action="/login?_locale=${locale}" class="fields">
        <input type="hidden" name="next" value="${next}">
        <label for="email">${words.email}</label>
        <input id="email" name="email" type="text" inputmode="email" value="${email}" maxlength="${longestEmail}"
          autocomplete="username" autocapitalize="none" spellcheck="false"
          required${email === undefined && html` autofocus`}>
        <label for="password">${words.password}</label>
        <input id="password" name="password" type="password" maxlength="${longestPassword}"
          autocomplete="current-password" required${email !== undefined && html` autofocus`}>
        <label class="choice">
          <input type="checkbox" name="remember" value="on"${remember === true && html` checked`}> ${words.remember}
        </label>
        <button>${signIn}</button>
      </form>`
  const session = user && renderSession(user, locale, { isSentence: true })
  return renderFormPage(request, words.title, main, { session, hasForm: true })
}
