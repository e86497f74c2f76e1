import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { captureCallSite, originalLocation } from './call-site.ts'
import { currentRecorder, recorders } from './current-recorder.ts'
import { isError } from './foreign-value.ts'
import type { PluginTree } from './plugin-tree.ts'
import type { DispatchPointName, Location, Route, SpanKind } from './profile.ts'
import type { Recorder, TracedFunction } from './recorder.ts'
import { withRoute, type RouteTable } from './route-table.ts'

type AnyFunction = (...args: never[]) => unknown

/** The dispatch point each of Fastify's hooks belongs to; errors have none of their own. */
const dispatchPoints: Record<string, DispatchPointName | null> = {
  onRequest: 'kernel.request',
  preParsing: 'kernel.request',
  preValidation: 'kernel.controller',
  preHandler: 'kernel.controller',
  preSerialization: 'kernel.response',
  onSend: 'kernel.response',
  onResponse: 'kernel.finish_request',
  onError: null,
  onTimeout: null,
  onRequestAbort: null
}

const tracedAlready = new WeakSet<object>()

/** Keeps a hook of the profiler's own pages out of the tracer's sight. */
export function untraced<Subject extends AnyFunction> (subject: Subject): Subject {
  tracedAlready.add(subject)
  return subject
}

/** What the tracer needs of the profiler around it. */
export interface TracerParts {
  recorderOf(raw: IncomingMessage): Recorder | undefined
  plugins: PluginTree
  routes: RouteTable
  /** Routes under it are the profiler's own: neither traced nor listed. */
  base: string
}

/**
 * Times every hook, route hook, handler and error handler that is added from now on, in all contexts, under
 * its own name. Functions keep their name, arity, asyncness and `this`; nothing else about them is known.
 */
export function trace (app: FastifyInstance, parts: TracerParts): void {
  traceRoutes(app, parts)
  traceHooks(app, parts)
  traceErrorHandlers(app, parts)
  traceNotFoundHandlers(app, parts)
}

function traceHooks (app: FastifyInstance, parts: TracerParts): void {
  const addHook = app.addHook
  replaceMethod(app, 'addHook', function tracedAddHook (this: FastifyInstance, name: unknown, hook: unknown): unknown {
    if (typeof name === 'string' && isFunction(hook)) {
      if (name === 'onRoute') {
        // It may add hooks to the route after ours has looked at it.
        const onRoute = hook
        return Reflect.apply(addHook, this, [name, function (this: FastifyInstance, route: RouteOptions) {
          Reflect.apply(onRoute, this, [route])
          traceRoute(route, parts, null)
        }])
      }
      if (name in dispatchPoints) {
        const location = registrationSite(tracedAddHook)
        return Reflect.apply(addHook, this, [name, traced(hook, describeHook(hook, name, false, parts, location), parts)])
      }
    }
    return Reflect.apply(addHook, this, [name, hook])
  })
}

function traceErrorHandlers (app: FastifyInstance, parts: TracerParts): void {
  const setErrorHandler = app.setErrorHandler
  replaceMethod(app, 'setErrorHandler', function tracedSetErrorHandler (this: FastifyInstance, handler: unknown): unknown {
    if (!isFunction(handler)) return Reflect.apply(setErrorHandler, this, [handler])
    const location = registrationSite(tracedSetErrorHandler)
    return Reflect.apply(setErrorHandler, this, [traced(handler, describe(handler, 'error-handler', parts, location), parts)])
  })
}

function traceNotFoundHandlers (app: FastifyInstance, parts: TracerParts): void {
  const setNotFoundHandler = app.setNotFoundHandler
  replaceMethod(app, 'setNotFoundHandler', function tracedSetNotFoundHandler (this: FastifyInstance, ...args: unknown[]): unknown {
    const location = registrationSite(tracedSetNotFoundHandler)
    const wrapped = args.map(arg => {
      if (isFunction(arg)) return traced(arg, describe(arg, 'not-found-handler', parts, location), parts)
      const options = { ...Object(arg) }
      traceHooksOf(options, parts, location)
      return options
    })
    return Reflect.apply(setNotFoundHandler, this, wrapped)
  })
}

function traceRoutes (app: FastifyInstance, parts: TracerParts): void {
  const routes = new Map<string, { handler: unknown, route: Route }>()
  const validating = untraced((request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    parts.recorderOf(request.raw)?.validating()
    done()
  })
  app.addHook('onRoute', function profileRoute (route) {
    if (isOwn(route.url, parts.base)) return
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
          plugin: parts.plugins.current(),
          location
        }
    if (!isAdded) parts.routes.add(described, constraints)
    if (methods.includes('GET')) routes.set(key, { handler, route: described })
    route.config = withRoute(route.config, described)
    traceRoute(route, parts, location)
    // Validation runs between the last hook before it and the first hook after it, which is the profiler's own.
    if (inputs.some(input => Reflect.has(Object(route.schema), input))) {
      const { preValidation = [] } = route
      route.preValidation = [preValidation, validating].flat()
    }
  })
}

/** The parts of a route's schema that its input is checked against. */
const inputs = ['body', 'querystring', 'query', 'params', 'headers']

function traceRoute (route: RouteOptions, parts: TracerParts, location: Location | null): void {
  if (!tracedAlready.has(route.handler)) {
    const description = describe(route.handler, 'handler', parts, location)
    route.handler = traced(route.handler, description, parts)
  }
  if (route.errorHandler !== undefined && !tracedAlready.has(route.errorHandler)) {
    const description = describe(route.errorHandler, 'error-handler', parts, location)
    route.errorHandler = traced(route.errorHandler, { ...description, routeLevel: true }, parts)
  }
  traceHooksOf(route, parts, location)
}

/** Traces the hooks that stand in an object of options, a route's or a not-found handler's. */
function traceHooksOf (options: object, parts: TracerParts, location: Location | null): void {
  for (const name of Object.keys(dispatchPoints)) {
    const hooks: unknown = Reflect.get(options, name)
    const wrap = (hook: unknown): unknown =>
      isFunction(hook) ? traced(hook, describeHook(hook, name, true, parts, location), parts) : hook
    if (Array.isArray(hooks)) Reflect.set(options, name, hooks.map(wrap))
    else if (isFunction(hooks)) Reflect.set(options, name, wrap(hooks))
  }
}

function isOwn (url: string, base: string): boolean {
  return url === base || url.startsWith(`${base}/`)
}

function describeHook (hook: AnyFunction, name: string, routeLevel: boolean, parts: TracerParts, location: Location | null): TracedFunction {
  const { [name]: point = null } = dispatchPoints
  return {
    ...describe(hook, 'hook', parts, location),
    hook: name,
    routeLevel,
    // What a route adds runs after what its plugins added: the arguments are there by then.
    dispatchPoint: routeLevel && name === 'preHandler' ? 'kernel.controller_arguments' : point
  }
}

function describe (subject: AnyFunction, kind: SpanKind, parts: TracerParts, location: Location | null): TracedFunction {
  return { kind, name: nameOf(subject), hook: null, routeLevel: false, dispatchPoint: null, plugin: parts.plugins.current(), location }
}

/** The same function, timed. A proxy, so that all Fastify may ask of a function is answered by the function itself. */
function traced<Subject extends AnyFunction> (subject: Subject, description: TracedFunction, parts: TracerParts): Subject {
  if (tracedAlready.has(subject)) return subject
  const proxy = new Proxy(subject, {
    // What it calls has returned when the function begins: V8 keeps ten frames of a stack, and of ours only this one.
    apply (target, self, args: unknown[]): unknown {
      const raw = rawRequestIn(args)
      // Somebody else than Fastify calls it.
      if (raw === null) return Reflect.apply(target, self, args)
      const recorder = parts.recorderOf(raw)
      if (recorder === undefined || recorder.finished) {
        const isSkipped = recorder === undefined && description.kind === 'hook' && !isUnmatched(args[0])
        return isSkipped ? skip(args) : Reflect.apply(target, self, args)
      }
      const call = new TracedCall(recorder, description, args)
      let result: unknown
      try {
        // A hook that calls the next one back has it run where it does itself: every change of that costs.
        result = currentRecorder() === recorder ? Reflect.apply(target, self, args) : recorders.run(recorder, Reflect.apply, target, self, args)
      } catch (error) {
        call.fail(error)
        throw error
      }
      call.follow(result)
      return result
    }
  })
  tracedAlready.add(proxy)
  return proxy
}

/** The profiler's pages pass none of the application's hooks: a broken one is what they are there to show. */
function skip (args: readonly unknown[]): void {
  const done = args.at(-1)
  if (isFunction(done)) Reflect.apply(done, undefined, [])
}

function isUnmatched (request: unknown): boolean {
  return typeof request === 'object' && request !== null && 'is404' in request && request.is404 === true
}

/** One call of a traced function, from its beginning to whichever end it finds. */
class TracedCall {
  readonly #recorder: Recorder
  readonly #isAnswer: boolean
  readonly #id: number | null
  readonly #args: readonly unknown[]
  readonly #isCalledBack: boolean

  /** Begins: notes the time, and puts a callback of its own in place of the one among the arguments. */
  constructor (recorder: Recorder, description: TracedFunction, args: unknown[]) {
    const before = performance.now()
    if (description.kind === 'handler') recorder.mark('kernel.controller_arguments')
    if (description.kind === 'error-handler') {
      // Fastify's own failures have thrown nowhere else that is traced; any other is known already.
      recorder.failing(args[0])
    }
    this.#recorder = recorder
    this.#isAnswer = isAnswer(description.kind)
    this.#id = recorder.open(description)
    if (this.#id !== null && description.kind === 'error-handler') recorder.handling(args[0], this.#id)
    if (this.#id !== null && description.hook === 'onError') recorder.handling(args[2], this.#id)
    this.#args = args
    const last = args.length - 1
    const done = args[last]
    this.#isCalledBack = isFunction(done)
    if (isFunction(done)) {
      // Named before it is assigned: else V8 makes it in its old space, where what it refers to outlives the request.
      const followedDone = (...results: unknown[]): unknown => {
        this.#calledBack(results[0])
        return Reflect.apply(done, undefined, results)
      }
      args[last] = followedDone
    }
    recorder.ownTime += performance.now() - before
  }

  /** The function has returned: a promise of its end, its answer, or nothing, and then its end is seen elsewhere. */
  follow (result: unknown): void {
    // The reply is a promise too, of its answer being out: no function's own end.
    if (isThenable(result) && !this.#args.includes(result)) {
      this.#returned('async')
      result.then(value => this.#end(this.#sent(value)), (error: unknown) => this.fail(error))
    } else if (result === undefined || isThenable(result)) this.#returned('sync')
    else if (!this.#isCalledBack) this.#end(this.#sent(result))
  }

  fail (error: unknown): void {
    this.#recorder.fail(error, this.#id)
    if (this.#id !== null) this.#recorder.close(this.#id, 'threw')
  }

  /** What a handler returns Fastify sends; an error is no answer. */
  #sent (value: unknown): unknown {
    return this.#isAnswer ? value : null
  }

  #returned (form: 'sync' | 'async'): void {
    if (this.#id !== null) this.#recorder.returned(this.#id, form)
  }

  /** What a callback is given first is an error to Fastify if it is truthy, whatever it is. */
  #calledBack (error: unknown): void {
    if (error) this.fail(error)
    else this.#end(null)
  }

  #end (error: unknown): void {
    if (isError(error)) this.fail(error)
    else if (this.#id !== null) this.#recorder.close(this.#id, this.#isAnswer ? 'replied' : 'continued')
  }
}

function isAnswer (kind: SpanKind): boolean {
  return kind === 'handler' || kind === 'not-found-handler' || kind === 'error-handler'
}

/** Fastify passes the request first, after the error to error handlers. */
function rawRequestIn (args: readonly unknown[]): IncomingMessage | null {
  return rawRequest(args[0]) ?? rawRequest(args[1])
}

function rawRequest (value: unknown): IncomingMessage | null {
  const isRequest = typeof value === 'object' && value !== null && 'raw' in value && 'routeOptions' in value
  return isRequest && isIncomingMessage(value.raw) ? value.raw : null
}

function isIncomingMessage (value: unknown): value is IncomingMessage {
  return typeof value === 'object' && value !== null && 'rawHeaders' in value
}

function isFunction (value: unknown): value is AnyFunction {
  return typeof value === 'function'
}

function isThenable (value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function nameOf (subject: AnyFunction): string {
  return subject.name.replace(/^(?:bound )+/, '') || 'anonymous'
}

/** Where the application registers what is being added: the first line outside Fastify and the profiler. */
function registrationSite (below: AnyFunction): Location | null {
  const location = captureCallSite(below, file => machinery.test(file) || file.startsWith('node:'))
  return location === null ? null : originalLocation(location)
}

const machinery = /[\\/]node_modules[\\/](?:fastify|avvio|fastify-plugin)[\\/]|[\\/]profiler[\\/]tracer\.[jt]s$/

function replaceMethod (app: FastifyInstance, name: string, method: AnyFunction): void {
  Object.defineProperty(app, name, { configurable: true, writable: true, value: method })
}
