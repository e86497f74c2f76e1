import type { FastifyReply, FastifyRequest } from 'fastify'
import { logRefusal } from '../logging.ts'
import { answerError, answerFailure, type ErrorAnswer, statusOf, toError } from './error-answer.ts'
import { reasonOf } from './start-error.ts'
import { type HttpError, ServiceUnavailableHttpError } from './http-errors.ts'

/** What a route may have said of the answer that it did not come to. */
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

/** Logs an error, and answers its request with it: also one that fails before any hook runs. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toError(thrown)
  if (error instanceof ServiceUnavailableHttpError) {
    request.log.warn({ statusCode: 503, reason: reasonOf(error.cause) }, error.message)
  } else if (statusOf(error) < 500) logRefusal(request.log, statusOf(error), error.message)
  else request.log.error({ err: error }, error.message)
  for (const name of Object.keys(reply.getHeaders())) if (headersOfAnswers.has(name)) reply.removeHeader(name)
  const answer = answerError(error, request.headers.accept)
  const { vary, ...headers } = answer.headers
  // What the answer depends on already stays.
  return vary === undefined ? send(answer, reply) : send({ ...answer, headers }, reply.varyOn(String(vary)))
}

/**
 * Does before any route what sendError would do with an HttpError, without one: making it and passing it on costs a fifth
 * of what an answer to an unmatched path does, and nobody would look at it.
 */
export function sendFailure(
  statusCode: number,
  message: string,
  headers: HttpError['headers'],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  logRefusal(request.log, statusCode, message)
  return send(answerFailure(statusCode, message, headers, request.headers.accept), reply)
}

function send({ statusCode, headers, body }: ErrorAnswer, reply: FastifyReply): FastifyReply {
  return reply.code(statusCode).headers(headers).send(body)
}
