import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { answerError, statusOf, toError } from '../src/errors/error-answer.ts'
import { varyOn } from '../src/vary.ts'

/** Answers every error of the context that it is registered in. */
async function errors (app: FastifyInstance) {
  app.setErrorHandler(function answerWithError (thrown, request, reply) {
    return sendError(thrown, request, reply)
  })
}

/** Answers a request with an error: also for those that fail before any hook runs. */
export function sendError (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toError(thrown)
  if (statusOf(error) < 500) request.log.info({ statusCode: statusOf(error) }, error.message)
  else request.log.error({ err: error }, error.message)
  const { statusCode, headers, body } = answerError(error, request.headers.accept)
  varyOn(reply, 'Accept')
  return reply.code(statusCode).headers(headers).send(body)
}

export default fp(errors, { name: 'errors', fastify: '5.x' })
