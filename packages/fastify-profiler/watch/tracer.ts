import type { FastifyInstance } from 'fastify'
import { describeFunction, describeHook, dispatchPoints, registrationSite } from './describe-function.ts'
import { isFunction } from '../base/foreign-value.ts'
import { setMethod } from './set-method.ts'
import { traceHooksOf, traceRoutes, unaware } from './trace-routes.ts'
import { traced } from './traced-function.ts'
import type { WatchedApplication } from './watched-application.ts'

/**
 * Traces every hook, route hook, handler and error handler added from now on, in all encapsulation contexts. Functions
 * keep their name, arity, asyncness and `this`.
 */
export function trace(app: FastifyInstance, application: WatchedApplication): void {
  traceRoutes(app, application)
  traceHooks(app, application)
  traceErrorHandlers(app, application)
  traceNotFoundHandlers(app, application)
}

function traceHooks(app: FastifyInstance, application: WatchedApplication): void {
  const addHook = app.addHook
  setMethod(app, 'addHook', function tracedAddHook(this: FastifyInstance, name: unknown, hook: unknown): unknown {
    if (typeof name !== 'string' || !isFunction(hook)) return Reflect.apply(addHook, this, [name, hook])
    if (name === 'onRoute') return Reflect.apply(addHook, this, [name, unaware(hook, application)])
    if (!(name in dispatchPoints)) return Reflect.apply(addHook, this, [name, hook])
    const location = registrationSite(tracedAddHook)
    return Reflect.apply(addHook, this, [
      name,
      traced(hook, describeHook(hook, name, false, application.plugins, location), application),
    ])
  })
}

function traceErrorHandlers(app: FastifyInstance, application: WatchedApplication): void {
  const setErrorHandler = app.setErrorHandler
  setMethod(app, 'setErrorHandler', function tracedSetErrorHandler(this: FastifyInstance, handler: unknown): unknown {
    if (!isFunction(handler)) return Reflect.apply(setErrorHandler, this, [handler])
    const location = registrationSite(tracedSetErrorHandler)
    return Reflect.apply(setErrorHandler, this, [
      traced(handler, describeFunction(handler, 'error-handler', application.plugins, location), application),
    ])
  })
}

function traceNotFoundHandlers(app: FastifyInstance, application: WatchedApplication): void {
  const setNotFoundHandler = app.setNotFoundHandler
  setMethod(
    app,
    'setNotFoundHandler',
    function tracedSetNotFoundHandler(this: FastifyInstance, ...args: unknown[]): unknown {
      const location = registrationSite(tracedSetNotFoundHandler)
      const wrapped = args.map(arg => {
        if (isFunction(arg)) {
          return traced(arg, describeFunction(arg, 'not-found-handler', application.plugins, location), application)
        }
        const options = Object.assign({}, arg)
        traceHooksOf(options, application, location, (name, hooks) => {
          Reflect.set(options, name, hooks)
        })
        return options
      })
      return Reflect.apply(setNotFoundHandler, this, wrapped)
    },
  )
}
