import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { answerError, statusOf, toError } from '../src/errors/error-answer.ts'

/** What a route may have said of the answer that it did not come to. */
const headersOfAnswers = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-length', 'content-range', 'etag', 'expires', 'last-modified']

/** Answers every error of the context that it is registered in. */
async function errors (app: FastifyInstance) {
  app.setErrorHandler(function answerWithError (thrown, request, reply) {
    reply.varyOn('Accept')
    return sendError(thrown, request, reply)
  })
}

/** Answers a request with an error: also for those that fail before any hook runs. */
export function sendError (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toError(thrown)
  if (statusOf(error) < 500) request.log.info({ statusCode: statusOf(error) }, error.message)
  else request.log.error({ err: error }, error.message)
  for (const name of headersOfAnswers) reply.removeHeader(name)
  const { statusCode, headers, body } = answerError(error, request.headers.accept)
  return reply.code(statusCode).headers(headers).send(body)
}

export default fp(errors, { name: 'errors', dependencies: ['vary'], fastify: '5.x' })
