import type { FastifyReply, FastifyRequest } from 'fastify'
import { logRefusal } from '../logging.ts'
import { answerError, answerFailure, type ErrorAnswer, statusOf, toError } from './error-answer.ts'
import type { Advice, SiteOfError } from './error-page.ts'
import { reasonOf } from './start-error.ts'
import { type HttpError, ServiceUnavailableHttpError, SiteClosedHttpError } from './http-errors.ts'

/** Headers that a route may have set for the response that it did not send. */
const headersOfAnswers = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'etag',
  'expires',
  'last-modified',
])

/** Logs an error and answers the request with it. Also works before the first hook. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toError(thrown)
  if (error instanceof ServiceUnavailableHttpError) {
    request.log.warn({ statusCode: 503, reason: reasonOf(error.cause) }, error.message)
  } else if (statusOf(error) < 500 || error instanceof SiteClosedHttpError) {
    logRefusal(request.log, statusOf(error), error.message)
  } else request.log.error({ err: error }, error.message)
  for (const name of Object.keys(reply.getHeaders())) if (headersOfAnswers.has(name)) reply.removeHeader(name)
  return sendAnswer(answerError(error, request.headers.accept, siteOf(request)), reply)
}

/** The site of a request. Undefined if its host has no license, or none of Portico's hooks has run. */
function siteOf({ license, locale }: FastifyRequest): SiteOfError | undefined {
  return license ? { name: license.name, locale } : undefined
}

/** Answers a request. Adds to the Vary header instead of replacing it. */
function sendAnswer({ statusCode, headers, body }: ErrorAnswer, reply: FastifyReply): FastifyReply {
  const { vary, ...others } = headers
  if (vary !== undefined) reply.varyOn(String(vary))
  return reply.code(statusCode).headers(others).send(body)
}

/**
 * Like sendError with an HttpError, without making one, which costs more than most of the answer. For hooks that run
 * before any route.
 */
export function sendFailure(
  statusCode: number,
  message: string,
  headers: HttpError['headers'],
  request: FastifyRequest,
  reply: FastifyReply,
  advice?: Advice,
): FastifyReply {
  logRefusal(request.log, statusCode, message)
  const { accept } = request.headers
  return sendAnswer(answerFailure(statusCode, message, headers, accept, advice, siteOf(request)), reply)
}
