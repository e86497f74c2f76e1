import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { sendFailure } from '../src/errors/send-error.ts'
import { longestTurn } from '../src/serving/limits.ts'
import { isLate } from '../src/serving/open-connections.ts'
import { elapsed } from '../src/serving/turns.ts'
import { tellRefusal } from './checks.ts'

const retryLater = { 'retry-after': '1' }

/**
 * Answers 503 to requests that were not started within longestTurn. The others are answered soon.
 * @fastify/under-pressure measures the delay with a timer, which does not fire during a long turn.
 */
async function overload(app: FastifyInstance) {
  app.addHook('onRequest', function refuseLate(request, reply, done) {
    if (isLate(request.raw)) refuse(request, reply)
    else done()
  })
  // Requests that wait for the same license all continue in the turn in which it arrives.
  app.addHook('preHandler', function endTurn(request, reply, done) {
    if (elapsed() < longestTurn || isInjected(request)) done()
    else refuse(request, reply)
  })
}

function refuse(request: FastifyRequest, reply: FastifyReply): void {
  tellRefusal(request, 'overload')
  sendFailure(503, 'The server is overloaded. Try again in a second.', retryLater, request, reply.varyOn('Accept'))
}

/** Injected requests may follow each other within one turn. */
function isInjected(request: FastifyRequest): boolean {
  return !(request.raw.socket instanceof Socket)
}

export default fp(overload, { name: 'overload', dependencies: ['vary'], fastify: '5.x' })
