import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { isPromise } from 'node:util/types'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { captureCallSite, originalLocation } from '../base/call-site.ts'
import { currentRecorder, recorderScope } from './current-recorder.ts'
import { attempt, isError } from '../base/foreign-value.ts'
import { hideFrames } from '../base/hidden-frames.ts'
import type { DispatchPointName, Location, Route, SpanKind } from '../base/profile.ts'
import type { WatchedApplication } from './watched-application.ts'
import type { Recorder } from './recorder.ts'
import type { TracedFunction } from './running-calls.ts'
import type { Recorders } from './recorders.ts'
import { withRoute } from './known-routes.ts'

hideFrames(import.meta.filename)

export type AnyFunction = (...args: never[]) => unknown

/** The dispatch point each of Fastify's hooks belongs to; errors have none of their own. */
export const dispatchPoints: Record<string, DispatchPointName | null> = {
  onRequest: 'kernel.request',
  preParsing: 'kernel.request',
  preValidation: 'kernel.controller',
  preHandler: 'kernel.controller',
  preSerialization: 'kernel.response',
  onSend: 'kernel.response',
  onResponse: 'kernel.finish_request',
  onError: null,
  onTimeout: null,
  onRequestAbort: null,
}

const tracedAlready = new WeakSet<object>()

/** Keeps a hook of the profiler's own pages out of the tracer's sight. */
export function untraced<Subject extends AnyFunction>(subject: Subject): Subject {
  tracedAlready.add(subject)
  return subject
}

/**
 * Times every hook, route hook, handler and error handler that is added from now on, in all contexts, under
 * its own name. Functions keep their name, arity, asyncness and `this`; nothing else about them is known.
 */
export function trace(app: FastifyInstance, application: WatchedApplication): void {
  traceRoutes(app, application)
  traceHooks(app, application)
  traceErrorHandlers(app, application)
  traceNotFoundHandlers(app, application)
}

function traceHooks(app: FastifyInstance, application: WatchedApplication): void {
  const addHook = app.addHook
  replaceMethod(app, 'addHook', function tracedAddHook(this: FastifyInstance, name: unknown, hook: unknown): unknown {
    if (typeof name !== 'string' || !isFunction(hook)) return Reflect.apply(addHook, this, [name, hook])
    if (name === 'onRoute') return Reflect.apply(addHook, this, [name, unaware(hook, application)])
    if (!(name in dispatchPoints)) return Reflect.apply(addHook, this, [name, hook])
    const location = registrationSite(tracedAddHook)
    return Reflect.apply(addHook, this, [
      name,
      traced(hook, describeHook(hook, name, false, application, location), application),
    ])
  })
}

/** An onRoute hook that sees each route as it was given, and none of the profiler's. */
function unaware<Hook extends AnyFunction>(hook: Hook, application: WatchedApplication): Hook {
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

function traceErrorHandlers(app: FastifyInstance, application: WatchedApplication): void {
  const setErrorHandler = app.setErrorHandler
  replaceMethod(
    app,
    'setErrorHandler',
    function tracedSetErrorHandler(this: FastifyInstance, handler: unknown): unknown {
      if (!isFunction(handler)) return Reflect.apply(setErrorHandler, this, [handler])
      const location = registrationSite(tracedSetErrorHandler)
      return Reflect.apply(setErrorHandler, this, [
        traced(handler, describe(handler, 'error-handler', application, location), application),
      ])
    },
  )
}

function traceNotFoundHandlers(app: FastifyInstance, application: WatchedApplication): void {
  const setNotFoundHandler = app.setNotFoundHandler
  replaceMethod(
    app,
    'setNotFoundHandler',
    function tracedSetNotFoundHandler(this: FastifyInstance, ...args: unknown[]): unknown {
      const location = registrationSite(tracedSetNotFoundHandler)
      const wrapped = args.map(arg => {
        if (isFunction(arg)) return traced(arg, describe(arg, 'not-found-handler', application, location), application)
        const options = { ...Object(arg) }
        traceHooksOf(options, application, location, (name, hooks) => {
          Reflect.set(options, name, hooks)
        })
        return options
      })
      return Reflect.apply(setNotFoundHandler, this, wrapped)
    },
  )
}

/** A route on its way through the onRoute hooks. */
interface SeenRoute {
  described: Route
  /** What it was given, under the names where the tracer has put something else. */
  given: Map<string, { before: unknown }>
}

const seenRoutes = new WeakMap<RouteOptions, SeenRoute>()

function traceRoutes(app: FastifyInstance, application: WatchedApplication): void {
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
          host: constraints.host === undefined ? null : String(constraints.host),
          ...(constraints.version !== undefined && { version: String(constraints.version) }),
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
  const description = describe(route.handler, 'handler', application, location)
  // What a hook puts in place of a handler, as that of @fastify/websocket does, often has no name of its own.
  if (description.name === 'anonymous') description.name = described.handler
  put('handler', traced(route.handler, description, application))
  if (route.errorHandler !== undefined) {
    const description = describe(route.errorHandler, 'error-handler', application, location)
    put('errorHandler', traced(route.errorHandler, { ...description, routeLevel: true }, application))
  }
  traceHooksOf(route, application, location, put)
  // Validation runs between the last hook before it and the first hook after it, which is the profiler's own.
  if (inputs.some(input => Reflect.has(Object(route.schema), input))) {
    const { preValidation = [] } = route
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

/** Traces the hooks that stand in an object of options, a route's or a not-found handler's. */
function traceHooksOf(
  options: object,
  application: WatchedApplication,
  location: Location | null,
  put: (name: string, hooks: unknown) => void,
): void {
  for (const name of Object.keys(dispatchPoints)) {
    const hooks: unknown = Reflect.get(options, name)
    const wrap = (hook: unknown): unknown =>
      isFunction(hook) ? traced(hook, describeHook(hook, name, true, application, location), application) : hook
    if (Array.isArray(hooks)) put(name, hooks.map(wrap))
    else if (isFunction(hooks)) put(name, wrap(hooks))
  }
}

function describeHook(
  hook: AnyFunction,
  name: string,
  routeLevel: boolean,
  application: WatchedApplication,
  location: Location | null,
): TracedFunction {
  const { [name]: point = null } = dispatchPoints
  return {
    ...describe(hook, 'hook', application, location),
    hook: name,
    routeLevel,
    // What a route adds runs after what its plugins added: the arguments are there by then.
    dispatchPoint: routeLevel && name === 'preHandler' ? 'kernel.controller_arguments' : point,
  }
}

function describe(
  subject: AnyFunction,
  kind: SpanKind,
  application: WatchedApplication,
  location: Location | null,
): TracedFunction {
  return {
    kind,
    name: nameOf(subject),
    hook: null,
    routeLevel: false,
    dispatchPoint: null,
    plugin: application.plugins.current(),
    location,
  }
}

/** The same function, timed. A proxy, so that all Fastify may ask of a function is answered by the function itself. */
function traced<Subject extends AnyFunction>(
  subject: Subject,
  description: TracedFunction,
  application: WatchedApplication,
): Subject {
  if (tracedAlready.has(subject)) return subject
  const proxy = new Proxy(subject, {
    // What it calls has returned when the function begins: V8 keeps ten frames of a stack, and of ours only this one.
    apply(target, self, args: unknown[]): unknown {
      const raw = attempt(() => rawRequestIn(args), null)
      // Somebody else than Fastify calls it.
      if (raw === null) return Reflect.apply(target, self, args)
      const recorder = application.recorders.of(raw)
      if (recorder === undefined || recorder.finished) {
        const isSkipped =
          description.kind === 'hook' &&
          attempt(() => application.ownPages.areAskedFor(raw) && !isUnmatched(args[0]), false)
        return isSkipped ? skip(args) : Reflect.apply(target, self, args)
      }
      const call = new TracedCall(recorder, description, args, application.recorders)
      let result: unknown
      try {
        // A hook that calls the next one back has it run where it does itself: every change of that costs.
        result =
          currentRecorder() === recorder
            ? Reflect.apply(target, self, args)
            : recorderScope.run(recorder, Reflect.apply, target, self, args)
      } catch (error) {
        call.fail(error)
        throw error
      }
      return call.follow(result)
    },
  })
  tracedAlready.add(proxy)
  return proxy
}

/** The profiler's pages pass none of the application's hooks: a broken one is what they are there to show. */
function skip(args: readonly unknown[]): void {
  const done = args.at(-1)
  if (isFunction(done)) Reflect.apply(done, undefined, [])
}

function isUnmatched(request: unknown): boolean {
  return typeof request === 'object' && request !== null && 'is404' in request && request.is404 === true
}

/** A hook that was added before anybody looked: what is known of it is the function itself. */
export function tracedHook(hook: AnyFunction, name: string, application: WatchedApplication): AnyFunction {
  return traced(hook, describeHook(hook, name, false, application, null), application)
}

/** The handler of a route that was added before anybody looked, and what can be said of that route. */
export function tracedHandler(
  handler: AnyFunction,
  route: Pick<Route, 'method' | 'url'>,
  application: WatchedApplication,
): { handler: AnyFunction; route: Route } {
  return {
    handler: traced(handler, describe(handler, 'handler', application, null), application),
    route: { ...route, host: null, handler: nameOf(handler), plugin: null, location: null },
  }
}

/** One call of a traced function, from its beginning to whichever end it finds. */
class TracedCall {
  readonly #recorder: Recorder
  readonly #recorders: Recorders
  readonly #isAnswer: boolean
  readonly #args: readonly unknown[]
  readonly #isCalledBack: boolean
  #id: number | null = null

  /** Begins: notes the time, and puts a callback of its own in place of the one among the arguments. */
  constructor(recorder: Recorder, description: TracedFunction, args: unknown[], recorders: Recorders) {
    const before = performance.now()
    this.#recorder = recorder
    this.#recorders = recorders
    this.#isAnswer = isAnswer(description.kind)
    this.#args = args
    const last = args.length - 1
    const done = args[last]
    this.#isCalledBack = isFunction(done)
    recorders.guard(recorder, () => this.#begin(description), undefined)
    if (isFunction(done)) {
      // Named before it is assigned: else V8 makes it in its old space, where what it refers to outlives the request.
      const followedDone = (...results: unknown[]): unknown => {
        this.#calledBack(results[0])
        return Reflect.apply(done, undefined, results)
      }
      args[last] = followedDone
    }
    recorder.clock.ownTime += performance.now() - before
  }

  /**
   * The function has returned: a promise of its end, its answer, or nothing, and then its end is seen elsewhere.
   * @returns what Fastify is to be given
   */
  follow(result: unknown): unknown {
    return this.#recorders.guard(this.#recorder, () => this.#follow(result), result)
  }

  fail(error: unknown): void {
    this.#recorder.threw(error, this.#id)
  }

  #begin(description: TracedFunction): void {
    const recorder = this.#recorder
    const { kind, hook } = description
    const [first, , third] = this.#args
    if (kind === 'handler') recorder.mark('kernel.controller_arguments')
    // Fastify's own failures have thrown nowhere else that is traced; any other is known already.
    if (kind === 'error-handler') recorder.failing(first)
    this.#id = recorder.calls.open(description)
    if (this.#id !== null && kind === 'error-handler') recorder.handling(first, this.#id)
    if (this.#id !== null && hook === 'onError') recorder.handling(third, this.#id)
  }

  #follow(result: unknown): unknown {
    // The reply is a promise too, of its answer being out: no function's own end.
    const isReply = isThenable(result) && this.#args.includes(result)
    if (isPromise(result)) {
      this.#returned('async')
      result.then(
        value => this.#end(this.#sent(value)),
        (error: unknown) => this.fail(error),
      )
    } else if (isReply || result === undefined) this.#returned('sync')
    // A query builder, for one, sends its query whenever its `then` is called: that may be called once.
    else if (isThenable(result)) return this.#follow(Promise.resolve(result))
    else if (!this.#isCalledBack) this.#end(this.#sent(result))
    return result
  }

  /** What a handler returns Fastify sends; an error is no answer. */
  #sent(value: unknown): unknown {
    return this.#isAnswer ? value : null
  }

  #returned(form: 'sync' | 'async'): void {
    if (this.#id !== null) this.#recorder.calls.returned(this.#id, form)
  }

  /** What a callback is given first is an error to Fastify if it is truthy, whatever it is. */
  #calledBack(error: unknown): void {
    if (error) this.fail(error)
    else this.#end(null)
  }

  #end(error: unknown): void {
    if (isError(error)) this.fail(error)
    else if (this.#id !== null) this.#recorder.calls.close(this.#id, this.#isAnswer ? 'replied' : 'continued')
  }
}

function isAnswer(kind: SpanKind): boolean {
  return kind === 'handler' || kind === 'not-found-handler' || kind === 'error-handler'
}

/** Fastify passes the request first, after the error to error handlers. */
function rawRequestIn(args: readonly unknown[]): IncomingMessage | null {
  return rawRequest(args[0]) ?? rawRequest(args[1])
}

function rawRequest(value: unknown): IncomingMessage | null {
  const isRequest = typeof value === 'object' && value !== null && 'raw' in value && 'routeOptions' in value
  return isRequest && isIncomingMessage(value.raw) ? value.raw : null
}

function isIncomingMessage(value: unknown): value is IncomingMessage {
  return typeof value === 'object' && value !== null && 'headers' in value
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function nameOf(subject: AnyFunction): string {
  return subject.name.replace(/^(?:bound )+/, '') || 'anonymous'
}

/** Where the application registers what is being added: the first line outside Fastify and the profiler. */
function registrationSite(below: AnyFunction): Location | null {
  const location = captureCallSite(
    below,
    file => file === import.meta.filename || file.startsWith('node:') || framework.test(file),
  )
  return location === null ? null : originalLocation(location)
}

const framework = /[\\/]node_modules[\\/](?:fastify|avvio|fastify-plugin)[\\/]/

function replaceMethod(app: FastifyInstance, name: string, method: AnyFunction): void {
  Object.defineProperty(app, name, { configurable: true, writable: true, value: method })
}
