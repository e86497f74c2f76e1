import type { FastifyReply, FastifyRequest } from 'fastify'
import type {} from '../plugins/validity.ts'
import { errorForm, statusOf, toError } from '../src/errors/error-answer.ts'
import { HttpError, TooManyRequestsHttpError } from '../src/errors/http-errors.ts'
import { sendError } from '../src/errors/send-error.ts'
import { nextPath } from '../src/http/next-path.ts'
import { type LoginPage, type LoginProblem, renderLoginPage } from './login-view.ts'

/** No cache may keep the entered address. */
const formHeaders = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }

/** Sends the form, empty or as it was filled in. */
export function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  form: Pick<LoginPage, 'next' | 'email' | 'remember' | 'problem'>,
): FastifyReply {
  const license = request.requireLicense()
  const { locale, user, closure } = request
  const page = renderLoginPage({ license, locale, user, closure, ...form })
  return reply.varyOn('Cookie').headers(formHeaders).send(page)
}

/** Sends the form with what was entered, the problem and the error's status. */
export function sendFormAgain(
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

/** The error handler. A browser gets the form again, with the problem. */
export function answerWithForm(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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

/** A field of a body, or an empty string if it is not text. */
export function textOf(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}
