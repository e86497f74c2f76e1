import type { FastifyReply } from 'fastify'
import { hideFrames } from '../base/hidden-frames.ts'
import type { Exchange } from './exchange.ts'

hideFrames(import.meta.filename)

/**
 * Watches how a reply is sent, awaited or hijacked. Each function is named before it is assigned: V8 makes one that is
 * assigned to a property where it is written in its old space, and all it refers to stays until a full collection.
 */
export function watchReply(reply: FastifyReply, exchange: Exchange): void {
  const { hijack, send, then } = reply
  const { calls } = exchange.recorder
  const watchedHijack = function (this: FastifyReply): FastifyReply {
    exchange.hijacked = true
    return hijack.call(this)
  }
  // A single frame, since V8 keeps only ten of a stack, and the stacks of hooks that fail have this one.
  const watchedSend = function (this: FastifyReply, payload?: unknown): FastifyReply {
    const sending = calls.sends()
    const sent = send.call(this, payload)
    if (sending !== null) calls.sent(sending)
    return sent
  }
  // Called for whoever returns the reply, or awaits it.
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
