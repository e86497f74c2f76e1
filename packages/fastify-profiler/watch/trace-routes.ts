import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { isObject, textOf, isFunction, type AnyFunction } from '../base/foreign-value.ts'
import type { Location, Route } from '../base/profile.ts'
import {
  anonymous,
  describeFunction,
  describeHook,
  dispatchPoints,
  nameOf,
  registrationSite,
} from './describe-function.ts'
import { traced, untraced } from './traced-function.ts'
import type { WatchedApplication } from './watched-application.ts'

/** A route that the onRoute hooks are being called with. */
interface SeenRoute {
  described: Route
  /** The original values of the options that the tracer has replaced. */
  given: Map<string, { before: unknown }>
}

const seenRoutes = new WeakMap<RouteOptions, SeenRoute>()

/** Traces the hooks, handler and error handler of every route. */
export function traceRoutes(app: FastifyInstance, application: WatchedApplication): void {
  const routes = new Map<string, { handler: unknown; route: Route }>()
  app.addHook('onRoute', function profileRoute(route) {
    if (application.ownPages.include(route.url)) return
    const location = registrationSite(profileRoute)
    const { handler } = route
    const methods = [route.method].flat().map(method => method.toUpperCase())
    for (const method of methods) application.routes.methods.add(method)
    const key = `${route.url} ${JSON.stringify(route.constraints ?? null)}`
    // Fastify adds a HEAD route with the same handler to every GET route.
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
          handler: handlerName(handler, methods, route.url),
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

/** The handler's name, or that of its route: "GET /users/:id". */
function handlerName(handler: AnyFunction, methods: readonly string[], url: string): string {
  const name = nameOf(handler)
  if (!isUnnamed(name)) return name
  return `${methods.length > mostMethods ? 'ALL' : methods.join(', ')} ${url}`
}

/** Whether a function has no name, or that of its key in a route's options. */
function isUnnamed(name: string): boolean {
  return name === anonymous || name === 'handler'
}

/** A route of more methods, such as that of app.all, is called "ALL". */
const mostMethods = 3

/** The parts of a route's schema that make Fastify validate the input. */
const inputs = ['body', 'querystring', 'query', 'params', 'headers']

function traceRoute(route: RouteOptions, { described, given }: SeenRoute, application: WatchedApplication): void {
  const { location } = described
  const put = (name: string, traced: unknown) => {
    if (!given.has(name)) given.set(name, { before: Reflect.get(route, name) })
    Reflect.set(route, name, traced)
  }
  const description = describeFunction(route.handler, 'handler', application.plugins, location)
  // A plugin's onRoute hook may replace the handler by an anonymous one, as @fastify/websocket's does.
  if (isUnnamed(description.name)) description.name = described.handler
  put('handler', application.routes.withRoute(traced(route.handler, description, application), described))
  if (route.errorHandler !== undefined) {
    const description = describeFunction(route.errorHandler, 'error-handler', application.plugins, location)
    put('errorHandler', traced(route.errorHandler, { ...description, routeLevel: true }, application))
  }
  traceHooksOf(route, application, location, put)
  // Validation runs between the last preValidation hook and the first preHandler hook, which is the profiler's.
  const { preValidation = [], schema } = route
  if (isObject(schema) && inputs.some(input => input in schema)) {
    put('preValidation', [preValidation, validating(application)].flat())
  }
}

/** Restores a route's original options. */
function giveBack(route: RouteOptions, { given }: SeenRoute): void {
  for (const [name, { before }] of given) {
    if (before === undefined) Reflect.deleteProperty(route, name)
    else Reflect.set(route, name, before)
  }
  given.clear()
}

/** The last hook before validation, which records its start. */
function validating(application: WatchedApplication) {
  return untraced((request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    application.recorders.record(request, recorder => recorder.calls.validating())
    done()
  })
}

/** Wraps an onRoute hook so that it sees the original options, and none of the profiler's own routes. */
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

/** Traces the hooks in the options of a route or of a not-found handler. */
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
