import formbody from '@fastify/formbody'
import { Ajv } from 'ajv'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorForm, statusOf, toError } from '../src/errors/error-answer.ts'
import { HttpError, TooManyRequestsHttpError, UnauthorizedHttpError } from '../src/errors/http-errors.ts'
import { sendError } from '../src/errors/send-error.ts'
import { nextPath } from '../src/http/next-path.ts'
import { endSession, findAccount, isEmail, longestEmail, normaliseEmail } from '../src/sign-in/account.ts'
import { Attempts } from '../src/sign-in/attempts.ts'
import { fingerprintOf } from '../src/sign-in/fingerprint.ts'
import { networkOf } from '../src/sign-in/network.ts'
import { longestPassword, PasswordVerifier } from '../src/sign-in/passwords.ts'
import { type LoginPage, type LoginProblem, renderLoginPage } from './login-view.ts'

interface Credentials {
  email: string
  password: string
  /** A form sends "on", JSON a boolean. */
  remember?: boolean | 'on'
  next?: string
}

const credentials = {
  type: 'object',
  required: ['email', 'password'],
  properties: {
    email: { type: 'string', maxLength: longestEmail, format: 'email' },
    password: { type: 'string', minLength: 1, maxLength: longestPassword },
    remember: { enum: [true, false, 'on'] },
    next: { type: 'string' },
  },
}

const query = { type: 'object', properties: { next: { type: 'string' } } }

/** In bytes. */
const bodyLimit = 16 * 1024

/**
 * Attempts per minute. One address cannot use up the attempts of an account. Several addresses can, and lock out the
 * account's owner only while they keep trying.
 */
const mostOfAddress = 20
const mostOfAccount = 40
/** The seconds in which the waiting passwords are verified. */
const busyFor = 2

export interface LoginOptions {
  /** Servers with the same first secret count attempts together. */
  cookieSecrets: readonly [string, ...string[]]
}

/** GET /login shows the form. POST /login takes the form or JSON, and signs in. */
export default async function login(app: FastifyInstance, { cookieSecrets: [secret] }: LoginOptions) {
  const { database } = app
  const { db } = database
  const attempts = new Attempts({ database, secret })
  const passwords = new PasswordVerifier()
  await app.register(formbody, { bodyLimit })
  // An Ajv without coercion: Fastify's own would accept ["secret"] as a password.
  const ajv = new Ajv({ formats: { email: text => isEmail(normaliseEmail(text)) } })
  app.setValidatorCompiler<object>(({ schema }) => ajv.compile(schema))
  app.removeContentTypeParser('text/plain')

  app.get<{ Querystring: { next?: string } }>(
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
      onRequest: limitAddress,
      preHandler: limitAccount,
      errorHandler: answerWithForm,
    },
    async function signIn(request, reply) {
      const { email, password, remember, next } = request.body
      const account = await findAccount(db, normaliseEmail(email))
      if (passwords.isBusy) {
        throw new TooManyRequestsHttpError(`Too many people are signing in. Try again in ${busyFor} seconds.`, busyFor)
      }
      if (!(await passwords.verify(password, account?.password_hash)) || account === undefined) {
        request.log.info('A sign-in failed')
        return refuse(request, reply)
      }
      const { authentication } = request
      if (authentication?.finding === 'valid') await endSession(db, app.store, authentication.token)
      request.log.info({ user: account.id }, 'Signed in')
      reply
        .header('cache-control', 'no-store')
        .signIn(
          { id: account.id, fingerprint: fingerprintOf(account.password_hash) },
          remember === true || remember === 'on',
        )
      return isForm(request) ? reply.redirect(nextPath(next), 303) : reply.code(204).send()
    },
  )

  async function limitAddress({ ip }: FastifyRequest) {
    await countAttempt(`address ${networkOf(ip)}`, mostOfAddress)
  }

  async function limitAccount(request: FastifyRequest) {
    await countAttempt(`account ${accountOf(request)}`, mostOfAccount)
  }

  /** @throws {TooManyRequestsHttpError} */
  async function countAttempt(key: string, most: number) {
    const seconds = await attempts.add(key, most)
    if (seconds === 0) return
    throw new TooManyRequestsHttpError(`Too many attempts to sign in. Try again in ${seconds} seconds.`, seconds)
  }
}

/** Normalises an address more coarsely than the database does, so that every spelling counts as the same account. */
function accountOf({ body }: FastifyRequest): string {
  return textOf(body, 'email').trim().normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase()
}

function isForm({ mediaType }: FastifyRequest): boolean {
  return mediaType === 'application/x-www-form-urlencoded'
}

function refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = new UnauthorizedHttpError('The e-mail address or the password is wrong.', request.domain)
  // Not thrown for a browser, which gets the form again even with DEBUG=1.
  if (errorForm(request.headers.accept) !== 'text/html') throw error
  return sendFormAgain(error, 'wrong', request, reply)
}

/** The error handler. A browser gets the form again, with the problem. */
function answerWithForm(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.varyOn('Accept')
  const problem = problemOf(error)
  if (problem === undefined || errorForm(request.headers.accept) !== 'text/html') {
    return sendError(error, request, reply)
  }
  return sendFormAgain(toError(error), problem, request, reply)
}

function problemOf(error: unknown): LoginProblem | undefined {
  if (error instanceof TooManyRequestsHttpError) return 'tooMany'
  return error instanceof Error && 'validation' in error ? 'incomplete' : undefined
}

function sendFormAgain(
  error: Error,
  problem: LoginProblem,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { body } = request
  const entered = {
    next: nextPath(textOf(body, 'next')),
    email: textOf(body, 'email'),
    remember: textOf(body, 'remember') === 'on',
  }
  if (error instanceof HttpError) reply.headers(error.headers)
  return sendForm(request, reply.code(statusOf(error)), { ...entered, problem })
}

function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  form: Pick<LoginPage, 'next' | 'email' | 'remember' | 'problem'>,
): FastifyReply {
  const license = request.requireLicense()
  const page = renderLoginPage({ license, locale: request.locale, user: request.user, ...form })
  return reply.varyOn('Cookie').headers(headersOfForm).send(page)
}

/** No cache may keep the entered address. */
const headersOfForm = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }

/** A field of a body, or an empty string if it is not text. */
function textOf(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}
