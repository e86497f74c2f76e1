import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type AnyFunction, attempt, isFunction, isObject, setMethod, textOf } from '../foreign-value.ts'
import type { Location, Route } from '../profile.ts'
import {
  anonymous,
  childrenOf,
  describeFunction,
  describeHook,
  dispatchPoints,
  type Hooks,
  hooksOf,
  internal,
  nameOf,
  type Origin,
  placeOf,
  registrationSite,
} from './describe-function.ts'
import { originals, traced, untraced } from './traced-call.ts'
import type { WatchedApplication } from './exchange.ts'

/** A route that the onRoute hooks are being called with. */
interface SeenRoute {
  described: Route
  /** The original values of the options that the tracer has replaced. */
  given: Map<string, { before: unknown }>
}

const seenRoutes = new WeakMap<RouteOptions, SeenRoute>()

/** The functions that onRoute hooks have added to a route. Others come from the route itself. */
const added = new WeakMap<RouteOptions, Map<AnyFunction, Origin>>()

/** Traces the hooks, handler and error handler of every route. */
function traceRoutes(app: FastifyInstance, application: WatchedApplication): void {
  const routes = new Map<string, { handler: unknown; route: Route }>()
  app.addHook('onRoute', function profileRoute(this: FastifyInstance, route) {
    if (application.ownPages.include(route.url)) return
    const location = registrationSite(profileRoute)
    const { handler } = route
    const methods = [route.method].flat().map(method => method.toUpperCase())
    for (const method of methods) application.routes.methods.add(method)
    const key = `${route.url.replace(/\/$/, '')} ${JSON.stringify(route.constraints ?? null)}`
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
    if (!isAdded) application.routes.add(described, constraints, () => findHooksTwice(this, route, described))
    if (methods.includes('GET')) routes.set(key, { handler, route: described })
    const seen = { described, given: new Map() }
    seenRoutes.set(route, seen)
    traceRoute(route, seen, application)
  })
}

/** Remembers the hooks of a route whose function was registered before. */
function findHooksTwice(app: FastifyInstance, route: RouteOptions, described: Route): void {
  const twice = Object.keys(dispatchPoints).flatMap(hook => {
    const lists = [...hooksOf(app), route].map((owner): unknown => Reflect.get(owner, hook))
    const all = lists.flat().flatMap(listed => (isFunction(listed) ? (originals.get(listed) ?? []) : []))
    const again = all.filter(({ subject }, index) => all.findIndex(other => other.subject === subject) < index)
    return again.map(({ location, subject }) => ({ hook, name: nameOf(subject), location }))
  })
  if (twice.length > 0) described.hooksTwice = twice
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
  const originOf = (subject: AnyFunction): Origin => added.get(route)?.get(subject) ?? described
  const put = (name: string, traced: unknown) => {
    if (!given.has(name)) given.set(name, { before: Reflect.get(route, name) })
    Reflect.set(route, name, traced)
  }
  const description = describeFunction(route.handler, 'handler', described)
  // A plugin's onRoute hook may replace the handler by an anonymous one, as @fastify/websocket's does.
  if (isUnnamed(description.name)) description.name = described.handler
  put('handler', application.routes.withRoute(traced(route.handler, description, application), described, route))
  if (route.errorHandler !== undefined) {
    const description = describeFunction(route.errorHandler, 'error-handler', originOf(route.errorHandler))
    put('errorHandler', traced(route.errorHandler, { ...description, routeLevel: true }, application))
  }
  traceHooksOf(route, application, originOf, put)
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

/**
 * Wraps an onRoute hook so that it sees the original options, and none of the profiler's own routes.
 * @param plugin the one that has added the hook: what the hook adds to a route belongs to it, not to the route
 */
function unaware<Hook extends AnyFunction>(hook: Hook, plugin: string | null, application: WatchedApplication): Hook {
  // By their text, since the hook may make new functions for each route, and to ask for a place takes 0.2 ms.
  const places = new Map<string, Location | null>()
  const locate = (subject: AnyFunction): Location | null => {
    const text = Function.prototype.toString.call(subject)
    const known = places.get(text)
    if (known !== undefined) return known
    const place = placeOf(subject)
    places.set(text, place)
    return place
  }
  return new Proxy(hook, {
    apply(target, self, args: [RouteOptions]): unknown {
      const [route] = args
      if (application.ownPages.include(route.url)) return undefined
      const seen = seenRoutes.get(route)
      if (seen !== undefined) giveBack(route, seen)
      const before = functionsOf(route)
      const result: unknown = Reflect.apply(target, self, args)
      const origins = added.get(route) ?? new Map<AnyFunction, Origin>()
      added.set(route, origins)
      for (const subject of functionsOf(route)) {
        const isKnown = before.includes(subject) || originals.has(subject)
        if (!isKnown) origins.set(subject, { plugin, location: locate(subject) })
      }
      if (seen !== undefined) traceRoute(route, seen, application)
      return result
    },
  })
}

/** The hooks and the error handler in a route's options. */
function functionsOf(route: RouteOptions): AnyFunction[] {
  const names = [...Object.keys(dispatchPoints), 'errorHandler']
  return names.flatMap((name): unknown => Reflect.get(route, name)).filter(isFunction)
}

/** Traces the hooks in the options of a route or of a not-found handler. */
function traceHooksOf(
  options: object,
  application: WatchedApplication,
  originOf: (hook: AnyFunction) => Origin,
  put: (name: string, hooks: unknown) => void,
): void {
  for (const name of Object.keys(dispatchPoints)) {
    const hooks: unknown = Reflect.get(options, name)
    const wrap = (hook: unknown): unknown =>
      isFunction(hook) ? traced(hook, describeHook(hook, name, true, originOf(hook)), application) : hook
    if (Array.isArray(hooks)) put(name, hooks.map(wrap))
    else if (isFunction(hooks)) put(name, wrap(hooks))
  }
}

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

/** The origin of what is registered now. */
function originHere(location: Location | null, { plugins }: WatchedApplication): Origin {
  return { plugin: plugins.current(), location }
}

function traceHooks(app: FastifyInstance, application: WatchedApplication): void {
  const addHook = app.addHook
  setMethod(app, 'addHook', function tracedAddHook(this: FastifyInstance, name: unknown, hook: unknown): unknown {
    if (typeof name !== 'string' || !isFunction(hook)) return Reflect.apply(addHook, this, [name, hook])
    if (name === 'onRoute') {
      return Reflect.apply(addHook, this, [name, unaware(hook, application.plugins.current(), application)])
    }
    if (!(name in dispatchPoints)) return Reflect.apply(addHook, this, [name, hook])
    const origin = originHere(registrationSite(tracedAddHook), application)
    return Reflect.apply(addHook, this, [name, traced(hook, describeHook(hook, name, false, origin), application)])
  })
}

function traceErrorHandlers(app: FastifyInstance, application: WatchedApplication): void {
  const setErrorHandler = app.setErrorHandler
  setMethod(app, 'setErrorHandler', function tracedSetErrorHandler(this: FastifyInstance, handler: unknown): unknown {
    if (!isFunction(handler)) return Reflect.apply(setErrorHandler, this, [handler])
    const origin = originHere(registrationSite(tracedSetErrorHandler), application)
    return Reflect.apply(setErrorHandler, this, [
      traced(handler, describeFunction(handler, 'error-handler', origin), application),
    ])
  })
}

function traceNotFoundHandlers(app: FastifyInstance, application: WatchedApplication): void {
  const setNotFoundHandler = app.setNotFoundHandler
  setMethod(
    app,
    'setNotFoundHandler',
    function tracedSetNotFoundHandler(this: FastifyInstance, ...args: unknown[]): unknown {
      const origin = originHere(registrationSite(tracedSetNotFoundHandler), application)
      const wrapped = args.map(arg => {
        if (isFunction(arg)) return traced(arg, describeFunction(arg, 'not-found-handler', origin), application)
        const options = Object.assign({}, arg)
        const put = (name: string, hooks: unknown) => Reflect.set(options, name, hooks)
        traceHooksOf(options, application, () => origin, put)
        return options
      })
      return Reflect.apply(setNotFoundHandler, this, wrapped)
    },
  )
}

const lateNote =
  'The profiler was registered after hooks or routes of the application. It does not know their line or plugin, ' +
  'and does not see the hooks of such routes. Write "await app.register(profiler)" before them.'

/** One of Fastify's hook lists that was not empty when the profiler was registered. */
interface EarlierHooks {
  name: string
  hooks: AnyFunction[]
  /** The number of hooks before the profiler's. */
  count: number
}

/**
 * Traces hooks that the application added before the profiler, and adds a note to every profile. This reads Fastify's
 * internals: in a version that keeps hooks elsewhere, none are found.
 */
export function followEarlier(app: FastifyInstance, application: WatchedApplication): void {
  const instances = allHooksOf(app)
  const earlier = instances.flatMap(earlierHooks)
  const isLate = earlier.length > 0 || attempt(() => app.printRoutes(), '') !== '(empty tree)'
  if (isLate) application.notes.add(lateNote)
  // Fastify has added the profiler's own hooks by then.
  app.after(() => {
    for (const hooks of earlier) traceEarlierHooks(hooks, application)
    for (const hooks of instances) traceQueuedHooks(hooks, application)
  })
}

/** The hooks of an instance and its descendants. */
function allHooksOf(app: object): Hooks[] {
  return [...hooksOf(app), ...childrenOf(app).flatMap(allHooksOf)]
}

function earlierHooks(lists: Hooks): EarlierHooks[] {
  return Object.keys(dispatchPoints).flatMap(name => {
    const hooks = lists[name]
    return Array.isArray(hooks) && hooks.length > 0 ? [{ name, hooks, count: hooks.length }] : []
  })
}

/** Replaces hooks by traced ones, and moves them behind the profiler's own hooks, which must run first. */
function traceEarlierHooks({ name, hooks, count }: EarlierHooks, application: WatchedApplication): void {
  const ours = hooks.splice(count)
  hooks.splice(0, count, ...ours, ...hooks.map(hook => tracedHook(hook, name, application)))
}

/** Traces hooks that passed through `addHook` before the profiler replaced it, but that Fastify adds only now. */
function traceQueuedHooks(hooks: Hooks, application: WatchedApplication): void {
  const { add } = hooks
  hooks.add = function (name, hook) {
    const seen = name in dispatchPoints ? tracedHook(hook, name, application) : hook
    if (seen !== hook) application.notes.add(lateNote)
    add.call(this, name, seen)
  }
}

/** Traces the handler of a route from before the profiler, on its first request: Fastify has no list of such routes. */
export function traceEarlierRoute(request: FastifyRequest, application: WatchedApplication): void {
  const { method = [], url = '' } = request.routeOptions
  for (const context of internal(request, 'fastify.context').filter(hasHandler)) {
    const { handler } = context
    const name = nameOf(handler)
    const route = { method: [method].flat(), url, host: null, handler: name, plugin: null, location: null }
    const description = describeFunction(handler, 'handler', originHere(null, application))
    application.routes.add(route)
    context.handler = traced(handler, description, application)
    application.routes.setHandler(context.handler, route)
  }
}

function tracedHook(hook: AnyFunction, name: string, application: WatchedApplication): AnyFunction {
  return traced(hook, describeHook(hook, name, false, originHere(null, application)), application)
}

function hasHandler(value: unknown): value is { handler: AnyFunction } {
  return isObject(value) && 'handler' in value && isFunction(value.handler)
}

/**
 * Registers the contexts of the profiler's pages so that the application's onRoute, onRegister and preClose hooks are
 * not called for them. This changes Fastify's internals: in a version that keeps hooks elsewhere, the hooks are called.
 */
export function registerUnnoticed(app: FastifyInstance, application: WatchedApplication, register: () => void): void {
  const earlier = childrenOf(app)
  const restores = hooksOf(app).map(hooks => setAside(hooks, application))
  register()
  app.after(() => {
    for (const restore of restores) restore()
    for (const context of childrenOf(app)) {
      if (!earlier.includes(context)) for (const hooks of hooksOf(context)) refusePreClose(hooks)
    }
  })
}

/** @returns a function that puts the onRegister hooks back */
function setAside(hooks: Hooks, application: WatchedApplication): () => void {
  const { onRegister, onRoute } = hooks
  if (!Array.isArray(onRegister) || !Array.isArray(onRoute)) return () => {}
  hooks.onRoute = onRoute.filter(isFunction).map(hook => unaware(hook, null, application))
  // No other context is made until the profiler's are.
  hooks.onRegister = []
  return () => {
    hooks.onRegister = [onRegister, hooks.onRegister].flat()
  }
}

/** Fastify up to 5.12.0 adds preClose hooks to contexts that exist already. It has added the profiler's own by then. */
function refusePreClose(hooks: Hooks): void {
  const { add } = hooks
  hooks.add = function (name, hook) {
    if (name !== 'preClose') add.call(this, name, hook)
  }
}
