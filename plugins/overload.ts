import { AsyncResource } from 'node:async_hooks'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { sendFailure } from '../src/errors/send-error.ts'
import { longestTurn } from '../src/serving/limits.ts'

/** The precision of the start of a turn, in milliseconds. */
const beat = 50
const retryLater = { 'retry-after': '1' }

/**
 * Answers 503 to requests that start later than longestTurn after the first request of the same turn of the event loop.
 * The others are answered soon. An average of past delays would admit too many requests, and then too few.
 */
async function overload(app: FastifyInstance) {
  /** The time of the first request since the last beat. Undefined if there was none. */
  let began: number | undefined
  // Fires between two turns, later if one takes long. Only started by requests, so that an idle process stays asleep.
  const timer = setTimeout(() => {
    began = undefined
  }, beat).unref()
  // Bound, or the timer would keep the async context of a request alive.
  const beginBeat = AsyncResource.bind(() => {
    timer.refresh()
  })
  app.addHook('onClose', async function stopBeating() {
    clearTimeout(timer)
  })

  app.addHook(
    'onRequest',
    function refuseOverload(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
      const now = performance.now()
      if (began === undefined) {
        began = now
        beginBeat()
      }
      if (now - began < longestTurn || isInjected(request)) return done()
      sendFailure(503, 'The server is overloaded. Try again in a second.', retryLater, request, reply.varyOn('Accept'))
    },
  )
}

/** Injected requests may follow each other within one turn. */
function isInjected(request: FastifyRequest): boolean {
  return !(request.raw.socket instanceof Socket)
}

export default fp(overload, { name: 'overload', dependencies: ['vary'], fastify: '5.x' })
