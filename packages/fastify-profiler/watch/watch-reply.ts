import type { FastifyReply } from 'fastify'
import { isObject } from '../base/foreign-value.ts'
import type { Exchange } from './exchange.ts'
import type { Recorders } from './recorders.ts'
import { setMethod } from './set-method.ts'
import { watchWebStream } from './web-stream.ts'

/**
 * Watches when a reply is sent, awaited or hijacked. Each function is declared before it is set, or V8 allocates
 * it in its old space, where all it refers to stays until a full garbage collection. Set directly, these and those of
 * received.ts and traced-call.ts make a profiled request 12 to 25 % slower (`npm run -w bench profiler`).
 */
export function watchReply(reply: FastifyReply, exchange: Exchange, recorders: Recorders): void {
  const { hijack, send, then } = reply
  const { recorder } = exchange
  const { calls } = recorder
  function watchedHijack(this: FastifyReply): FastifyReply {
    exchange.hijacked = true
    return hijack.call(this)
  }
  /** @returns whether the payload is a stream */
  const watchStream = (payload: object): boolean =>
    recorders.guard(
      recorder,
      () =>
        'pipe' in payload ||
        watchWebStream(payload, error => {
          // Before the head is sent, Fastify calls the error handlers.
          if (exchange.response.headersSent) recorders.guard(recorder, () => recorder.exception(error), undefined)
        }),
      false,
    )
  // Adds only one frame to the stacks of failing hooks, since V8 keeps just ten.
  function watchedSend(this: FastifyReply, payload?: unknown): FastifyReply {
    const sending = calls.sends()
    exchange.isReplied = true
    const isStream = isObject(payload) && watchStream(payload)
    const sent = send.call(this, payload)
    // The head of a stream is written with its first chunk.
    if (isStream) recorder.answering()
    if (sending !== null) calls.sent(sending)
    return sent
  }
  // Called when a function returns or awaits the reply.
  function watchedThen(this: FastifyReply, fulfilled: () => void, rejected: (error: Error) => void): void {
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
  setMethod(reply, 'hijack', watchedHijack)
  setMethod(reply, 'send', watchedSend)
  setMethod(reply, 'then', watchedThen)
}
