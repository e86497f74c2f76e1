import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { sendError } from '../src/errors/send-error.ts'

/** Answers every error of the context in which it is registered. */
async function errors(app: FastifyInstance) {
  app.setErrorHandler(function answerWithError(thrown, request, reply) {
    reply.varyOn('Accept')
    return sendError(thrown, request, reply)
  })
}

export default fp(errors, { name: 'errors', dependencies: ['vary'], fastify: '5.x' })
