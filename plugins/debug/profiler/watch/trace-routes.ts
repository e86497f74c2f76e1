import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { isObject, textOf } from '../base/foreign-value.ts'
import { hideFrames } from '../base/hidden-frames.ts'
import type { Location, Route } from '../base/profile.ts'
import {
  describeFunction,
  describeHook,
  dispatchPoints,
  isFunction,
  nameOf,
  registrationSite,
  type AnyFunction,
} from './describe-function.ts'
import { withRoute } from './known-routes.ts'
import { traced, untraced } from './traced-function.ts'
import type { WatchedApplication } from './watched-application.ts'

hideFrames(import.meta.filename)

/** A route on its way through the onRoute hooks. */
interface SeenRoute {
  described: Route
  /** What it was given, under the names where the tracer has put something else. */
  given: Map<string, { before: unknown }>
}

const seenRoutes = new WeakMap<RouteOptions, SeenRoute>()

/** Times what routes are made of: hooks, handler, error handler. */
export function traceRoutes(app: FastifyInstance, application: WatchedApplication): void {
  const routes = new Map<string, { handler: unknown; route: Route }>()
  app.addHook('onRoute', function profileRoute(route) {
    if (application.ownPages.include(route.url)) return
    const location = registrationSite(profileRoute)
    const { handler } = route
    const methods = [route.method].flat().map(method => method.toUpperCase())
    const key = `${route.url} ${JSON.stringify(route.constraints ?? null)}`
    // Fastify adds a HEAD to every GET, with the same handler: no route that anyone declared.
    const known = routes.get(key)
    const isAdded = methods.length === 1 && methods[0] === 'HEAD' && known?.handler === handler
    const constraints: Record<string, unknown> = { ...route.constraints }
    const described: Route = isAdded
      ? known.route
      : {
          method: methods,
          url: route.url,
          host: constraints.host === undefined ? null : textOf(constraints.host),
          ...(constraints.version !== undefined && { version: textOf(constraints.version) }),
          handler: nameOf(handler),
          plugin: application.plugins.current(),
          location,
        }
    if (!isAdded) application.routes.add(described, constraints)
    if (methods.includes('GET')) routes.set(key, { handler, route: described })
    const seen = { described, given: new Map() }
    seenRoutes.set(route, seen)
    traceRoute(route, seen, application)
  })
}

/** The parts of a route's schema that its input is checked against. */
const inputs = ['body', 'querystring', 'query', 'params', 'headers']

function traceRoute(route: RouteOptions, { described, given }: SeenRoute, application: WatchedApplication): void {
  const { location } = described
  const put = (name: string, traced: unknown) => {
    if (!given.has(name)) given.set(name, { before: Reflect.get(route, name) })
    Reflect.set(route, name, traced)
  }
  put('config', withRoute(route.config, described))
  const description = describeFunction(route.handler, 'handler', application.plugins, location)
  // What a hook puts in place of a handler, as that of @fastify/websocket does, often has no name of its own.
  if (description.name === 'anonymous') description.name = described.handler
  put('handler', traced(route.handler, description, application))
  if (route.errorHandler !== undefined) {
    const description = describeFunction(route.errorHandler, 'error-handler', application.plugins, location)
    put('errorHandler', traced(route.errorHandler, { ...description, routeLevel: true }, application))
  }
  traceHooksOf(route, application, location, put)
  // Validation runs between the last hook before it and the first hook after it, which is the profiler's own.
  const { preValidation = [], schema } = route
  if (isObject(schema) && inputs.some(input => input in schema)) {
    put('preValidation', [preValidation, validating(application)].flat())
  }
}

/** Gives a route back what it was given. */
function giveBack(route: RouteOptions, { given }: SeenRoute): void {
  for (const [name, { before }] of given) {
    if (before === undefined) Reflect.deleteProperty(route, name)
    else Reflect.set(route, name, before)
  }
  given.clear()
}

/** The last hook before validation: it tells when that begins. */
function validating(application: WatchedApplication) {
  return untraced((request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    application.recorders.record(request, recorder => recorder.calls.validating())
    done()
  })
}

/** An onRoute hook that sees each route as it was given, and none of the profiler's. */
export function unaware<Hook extends AnyFunction>(hook: Hook, application: WatchedApplication): Hook {
  return new Proxy(hook, {
    apply(target, self, args: [RouteOptions]): unknown {
      const [route] = args
      if (application.ownPages.include(route.url)) return undefined
      const seen = seenRoutes.get(route)
      if (seen !== undefined) giveBack(route, seen)
      const result: unknown = Reflect.apply(target, self, args)
      if (seen !== undefined) traceRoute(route, seen, application)
      return result
    },
  })
}

/** Traces the hooks that stand in an object of options, a route's or a not-found handler's. */
export function traceHooksOf(
  options: object,
  application: WatchedApplication,
  location: Location | null,
  put: (name: string, hooks: unknown) => void,
): void {
  for (const name of Object.keys(dispatchPoints)) {
    const hooks: unknown = Reflect.get(options, name)
    const wrap = (hook: unknown): unknown =>
      isFunction(hook) ? traced(hook, describeHook(hook, name, true, application.plugins, location), application) : hook
    if (Array.isArray(hooks)) put(name, hooks.map(wrap))
    else if (isFunction(hooks)) put(name, wrap(hooks))
  }
}
