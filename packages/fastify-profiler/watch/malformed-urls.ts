import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { attempt } from '../base/foreign-value.ts'
import { pathOfUrl } from '../base/request-path.ts'
import type { WatchedApplication } from './watched-application.ts'

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
    // No route has this constraint. It is the last code that runs before the router reads the method.
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
