import { performance } from 'node:perf_hooks'
import { AsyncResource } from 'node:async_hooks'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { sendFailure } from '../src/errors/send-failure.ts'
import { longestTurn } from '../src/serving/limits.ts'
import { tellRefusal } from './verdicts.ts'

/** The precision of the start of a turn, in milliseconds. */
const precision = 50
const retryLater = { 'retry-after': '1' }

/**
 * Answers 503 to requests that start later than longestTurn after the first request of the same turn of the event loop.
 * The others are answered soon. @fastify/under-pressure measures the delay with a timer, which does not fire during a
 * long turn: of 600 requests at once, it refuses some after 2.5 to 5.5 s, this plugin after 1 to 2 s
 * (`npm run -w bench overload`).
 */
async function overload(app: FastifyInstance) {
  /** The time of the first request since the timer last fired. Undefined if there was none. */
  let began: number | undefined
  // Fires between two turns, later if one takes long. Only started by requests, so that an idle process stays asleep.
  const timer = setTimeout(() => {
    began = undefined
  }, precision).unref()
  // Bound, or the timer would keep the async context of a request alive.
  const restartTimer = AsyncResource.bind(() => {
    timer.refresh()
  })
  app.addHook('onClose', async function stopTimer() {
    clearTimeout(timer)
  })

  app.addHook(
    'onRequest',
    function refuseOverload(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
      const now = performance.now()
      if (began === undefined) {
        began = now
        restartTimer()
      }
      if (now - began < longestTurn || isInjected(request)) return done()
      tellRefusal(request, 'overload')
      sendFailure(503, 'The server is overloaded. Try again in a second.', retryLater, request, reply.varyOn('Accept'))
    },
  )
}

/** Injected requests may follow each other within one turn. */
function isInjected(request: FastifyRequest): boolean {
  return !(request.raw.socket instanceof Socket)
}

export default fp(overload, { name: 'overload', dependencies: ['vary'], fastify: '5.x' })
