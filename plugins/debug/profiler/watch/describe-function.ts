import { captureCallSite, originalLocation } from '../base/call-site.ts'
import { read, textOf } from '../base/foreign-value.ts'
import { isHidden } from '../base/hidden-frames.ts'
import type { DispatchPointName, Location, SpanKind } from '../base/profile.ts'
import type { PluginTree } from './plugin-tree.ts'
import type { TracedFunction } from './running-calls.ts'

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

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}

/** What is known of a hook before it is called. */
export function describeHook(
  hook: AnyFunction,
  name: string,
  routeLevel: boolean,
  plugins: PluginTree,
  location: Location | null,
): TracedFunction {
  const { [name]: point = null } = dispatchPoints
  return {
    ...describeFunction(hook, 'hook', plugins, location),
    hook: name,
    routeLevel,
    // What a route adds runs after what its plugins added: the arguments are there by then.
    dispatchPoint: routeLevel && name === 'preHandler' ? 'kernel.controller_arguments' : point,
  }
}

/** What is known of a function before it is called. */
export function describeFunction(
  subject: AnyFunction,
  kind: SpanKind,
  plugins: PluginTree,
  location: Location | null,
): TracedFunction {
  return {
    kind,
    name: nameOf(subject),
    hook: null,
    routeLevel: false,
    dispatchPoint: null,
    plugin: plugins.current(),
    location,
  }
}

export function nameOf(subject: AnyFunction): string {
  return textOf(read(subject, 'name')).replace(/^(?:bound )+/, '') || 'anonymous'
}

const framework = /[\\/]node_modules[\\/](?:fastify|avvio|fastify-plugin)[\\/]/

/** Where the application registers what is being added: the first line outside Fastify and the profiler. */
export function registrationSite(below: AnyFunction): Location | null {
  const location = captureCallSite(below, file => isHidden(file) || file.startsWith('node:') || framework.test(file))
  return location === null ? null : originalLocation(location)
}
