import { AsyncResource } from 'node:async_hooks'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { sendFailure } from '../src/errors/send-error.ts'
import { longestTurn } from '../src/serving/limits.ts'

/** In milliseconds: how exactly it is known which request is the first of a turn. */
const beat = 50
const retryLater = { 'retry-after': '1' }

/**
 * Answers 503 to requests that a turn of the event loop has not come to in time, counted from its first request, so that
 * whoever is let in is answered soon. An average of past delays would let in too many, and then too few.
 */
async function overload(app: FastifyInstance) {
  /** When the first request since the last beat came; undefined: none has. */
  let began: number | undefined
  // Between two turns, later where one takes long; only after requests, as a process that wakes up all the time never rests.
  const timer = setTimeout(() => {
    began = undefined
  }, beat).unref()
  // In no request's context, which the timer would keep.
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
      sendFailure(503, 'There is too much to do. Try again in a second.', retryLater, request, reply.varyOn('Accept'))
    },
  )
}

/** Whoever injects one request after another may never end a turn. */
function isInjected(request: FastifyRequest): boolean {
  return !(request.raw.socket instanceof Socket)
}

export default fp(overload, { name: 'overload', dependencies: ['vary'], fastify: '5.x' })
