import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isObject, isFunction } from '../base/foreign-value.ts'
import { internal } from './internals.ts'

/** Is told of requests that Fastify rejects before any hook runs, such as one with a malformed URL. */
export interface RejectionObserver {
  /** Called before the application's function for these errors. */
  failEarly(error: Error, request: FastifyRequest, reply: FastifyReply): void
  /** Called before Fastify answers by itself, with the request that has arrived last. */
  rejectArrived(): void
}

/**
 * Watches `frameworkErrors`. Fastify reads it from its options for each such request. An application without the
 * function keeps having none: with one, Fastify would log the request and use up a request id.
 */
export function watchFrameworkErrors(app: FastifyInstance, observer: RejectionObserver): void {
  for (const options of internal(app, 'fastify.options').filter(isObject)) {
    const given: unknown = Reflect.get(options, 'frameworkErrors')
    if (isFunction(given)) Reflect.set(options, 'frameworkErrors', watched(given, observer))
    else {
      Object.defineProperty(options, 'frameworkErrors', {
        configurable: true,
        enumerable: Object.hasOwn(options, 'frameworkErrors'),
        get: () => observer.rejectArrived(),
      })
    }
  }
}

/** A proxy keeps the function's name and arity. */
function watched<Handler extends (...args: never[]) => unknown>(
  handler: Handler,
  observer: RejectionObserver,
): Handler {
  return new Proxy(handler, {
    apply(target, self, args: [FastifyError, FastifyRequest, FastifyReply]): unknown {
      observer.failEarly(...args)
      return Reflect.apply(target, self, args)
    },
  })
}
