import { captureCallSite, originalLocation } from '../base/call-site.ts'
import { read, textOf } from '../base/foreign-value.ts'
import { isHidden } from '../base/hidden-frames.ts'
import type { DispatchPointName, Location, SpanKind } from '../base/profile.ts'
import type { PluginTree } from './plugin-tree.ts'
import type { TracedFunction } from './running-calls.ts'

export type AnyFunction = (...args: never[]) => unknown

/** The dispatch point of each Fastify hook; null if it belongs to none. */
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
    // A route's own preHandler hooks run last, when the arguments are complete.
    dispatchPoint: routeLevel && name === 'preHandler' ? 'kernel.controller_arguments' : point,
  }
}

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

/** Finds where the application called `below`: the first frame outside Fastify and the profiler. */
export function registrationSite(below: AnyFunction): Location | null {
  const location = captureCallSite(below, file => isHidden(file) || file.startsWith('node:') || framework.test(file))
  return location === null ? null : originalLocation(location)
}
