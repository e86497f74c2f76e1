import type { FastifyReply } from 'fastify'
import { hideFrames } from '../base/hidden-frames.ts'
import type { Exchange } from './exchange.ts'

hideFrames(import.meta.filename)

/**
 * Watches when a reply is sent, awaited or hijacked. Each function is named before it is assigned, or V8 allocates it
 * in its old space, where all it refers to stays until a full garbage collection.
 */
export function watchReply(reply: FastifyReply, exchange: Exchange): void {
  const { hijack, send, then } = reply
  const { calls } = exchange.recorder
  const watchedHijack = function (this: FastifyReply): FastifyReply {
    exchange.hijacked = true
    return hijack.call(this)
  }
  // Adds only one frame to the stacks of failing hooks, since V8 keeps just ten.
  const watchedSend = function (this: FastifyReply, payload?: unknown): FastifyReply {
    const sending = calls.sends()
    const sent = send.call(this, payload)
    if (sending !== null) calls.sent(sending)
    return sent
  }
  // Called when a function returns or awaits the reply.
  const watchedThen = function (this: FastifyReply, fulfilled: () => void, rejected: (error: Error) => void): void {
    calls.waits()
    then.call(
      this,
      () => {
        calls.goesOn()
        fulfilled()
      },
      rejected,
    )
  }
  reply.hijack = watchedHijack
  reply.send = watchedSend
  reply.then = watchedThen
}
