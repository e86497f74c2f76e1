import type { FastifyReply, FastifyRequest } from 'fastify'
import type {} from '../plugins/validity.ts'
import { errorForm, statusOf, toError } from '../src/errors/error-answer.ts'
import {
  BadRequestHttpError,
  ForbiddenHttpError,
  HttpError,
  TooManyRequestsHttpError,
} from '../src/errors/http-errors.ts'
import { sendError } from '../src/errors/send-error.ts'
import { isPassword } from '../src/records/passwords.ts'
import { isForm } from './form-body.ts'
import {
  describeProblem,
  type PasswordForm,
  type PasswordProblem,
  renderPasswordChanged,
  renderPasswordForm,
} from './password-view.ts'

/** A new password, typed twice. */
export interface NewPassword {
  password: string
  repeated_password: string
}

/** What all pages about passwords show of the site. */
export function siteOf(request: FastifyRequest) {
  return { license: request.requireLicense(), locale: request.locale, closure: request.closure }
}

/** Sends a page that no cache keeps. */
export function sendPasswordPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).send(page)
}

/** Tells a browser that the password is changed, by a page; others by the status alone. */
export function confirmChange(
  outcome: { isSignedIn: boolean },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!isForm(request)) return reply.code(204).header('cache-control', 'no-store').send()
  return sendPasswordPage(reply, renderPasswordChanged(siteOf(request), outcome))
}

/** What is wrong with a new password, or undefined. */
export function problemOf({ password, repeated_password: repeated }: NewPassword): PasswordProblem | undefined {
  if (password !== repeated) return 'different'
  return isPassword(password) ? undefined : 'unfit'
}

/** Sends a browser the form again with the problem. Others get the problem alone. */
export function refusePassword(
  problem: PasswordProblem,
  form: PasswordForm,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const ErrorClass = problem === 'wrong' ? ForbiddenHttpError : BadRequestHttpError
  return answerWithProblem(new ErrorClass(describeProblem(problem)), problem, form, request, reply)
}

/** Answers an error that was thrown before the handler, for the form that it would have shown. */
export function answerThrown(
  thrown: unknown,
  form: PasswordForm | null,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = thrownProblem(thrown)
  if (problem !== undefined && form !== null) return answerWithProblem(toError(thrown), problem, form, request, reply)
  return sendError(thrown, request, reply.varyOn('Accept'))
}

function answerWithProblem(
  error: Error,
  problem: PasswordProblem,
  form: PasswordForm,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.varyOn('Accept')
  if (errorForm(request.headers.accept) !== 'text/html') return sendError(error, request, reply)
  if (error instanceof HttpError) reply.headers(error.headers)
  return sendPasswordPage(reply.code(statusOf(error)), renderPasswordForm(siteOf(request), form, problem))
}

function thrownProblem(thrown: unknown): PasswordProblem | undefined {
  if (thrown instanceof TooManyRequestsHttpError) return 'tooMany'
  return thrown instanceof Error && 'validation' in thrown ? 'incomplete' : undefined
}
