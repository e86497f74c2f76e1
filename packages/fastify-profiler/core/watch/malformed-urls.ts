import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { attempt, isFunction, isObject } from '../foreign-value.ts'
import { pathOfUrl } from '../urls.ts'
import { internal } from './describe-function.ts'
import type { WatchedApplication } from './exchange.ts'

/** The methods of the profiler's pages. */
const pageMethods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST']

/**
 * Keeps the profiler's pages from changing how malformed URLs are answered. Fastify up to 5.12.1 calls the
 * not-found handler if no route has the method, and the pages' routes have some.
 */
export function hideMethods(app: FastifyInstance, { ownPages, routes }: WatchedApplication): void {
  // Within another plugin, the profiler does not see all routes.
  const isRoot = Object.getPrototypeOf(app) === Object.prototype
  if (!isRoot || !/^5\.(?:\d\.|1[01]\.|12\.[01]$)/.test(app.version)) return
  for (const method of pageMethods) {
    if (app.printRoutes({ method }) !== '(empty tree)') routes.methods.add(method)
  }
  app.addConstraintStrategy({
    name: 'fastifyProfiler',
    storage: () => ({ get: () => null, set() {} }),
    // No route has this constraint. The router derives it for every request, just before it reads the method.
    mustMatchWhenDerived: true,
    deriveConstraint(raw: IncomingMessage): undefined {
      // An error thrown here would reach the application.
      attempt(() => {
        const { method = '', url = '' } = raw
        if (!routes.methods.has(method) && !ownPages.areAskedFor(raw) && isMalformed(url)) hideMethodOnce(raw)
      }, undefined)
    },
  })
}

function isMalformed(url: string): boolean {
  const path = pathOfUrl(url)
  return !path.startsWith('/') || attempt(() => decodeURI(path), null) === null
}

/** Makes the next reader of a request's method, which is the router, find one without routes. */
function hideMethodOnce(raw: IncomingMessage): void {
  const own = Object.getOwnPropertyDescriptor(raw, 'method')
  Object.defineProperty(raw, 'method', {
    configurable: true,
    get() {
      Reflect.deleteProperty(raw, 'method')
      if (own !== undefined) Object.defineProperty(raw, 'method', own)
      return ''
    },
  })
}

/** Is told of requests that Fastify rejects before any hook runs, such as one with a malformed URL. */
interface RejectionObserver {
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
