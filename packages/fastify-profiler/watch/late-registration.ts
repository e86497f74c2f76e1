import type { FastifyInstance, FastifyRequest } from 'fastify'
import { attempt, isObject, isFunction, type AnyFunction } from '../base/foreign-value.ts'
import { childrenOf, hooksOf, internal, type Hooks } from './internals.ts'
import type { WatchedApplication } from './watched-application.ts'
import { describeFunction, describeHook, dispatchPoints, nameOf } from './describe-function.ts'
import { traced } from './traced-function.ts'

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
    const description = describeFunction(handler, 'handler', application.plugins, null)
    application.routes.add(route)
    context.handler = traced(handler, description, application)
    application.routes.setHandler(context.handler, route)
  }
}

function tracedHook(hook: AnyFunction, name: string, application: WatchedApplication): AnyFunction {
  return traced(hook, describeHook(hook, name, false, application.plugins, null), application)
}

function hasHandler(value: unknown): value is { handler: AnyFunction } {
  return isObject(value) && 'handler' in value && isFunction(value.handler)
}
