import { type AnyFunction, read, textOf } from '../base/foreign-value.ts'
import { captureSites } from '../base/capture-sites.ts'
import { isProfilerFile } from '../base/profiler-files.ts'
import { originalLocation, pathOf } from '../base/location.ts'
import type { DispatchPointName, Location, SpanKind } from '../base/profile.ts'
import type { TracedFunction } from './running-calls.ts'

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

export function describeHook(
  hook: AnyFunction,
  name: string,
  routeLevel: boolean,
  plugins: CurrentPlugin,
  location: Location | null,
): TracedFunction {
  const point = dispatchPoints[name] ?? null
  return {
    ...describeFunction(hook, 'hook', plugins, location),
    hook: name,
    routeLevel,
    // A route's own preHandler hooks run last, when the arguments are complete.
    dispatchPoint: routeLevel && name === 'preHandler' ? 'kernel.controller_arguments' : point,
  }
}

/** Tells which plugin is loading, as a PluginTree does. */
export interface CurrentPlugin {
  current(): string | null
}

export function describeFunction(
  subject: AnyFunction,
  kind: SpanKind,
  plugins: CurrentPlugin,
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

/** The name of functions that have none. */
export const anonymous = 'anonymous'

export function nameOf(subject: AnyFunction): string {
  return textOf(read(subject, 'name')).replace(/^(?:bound )+/, '') || anonymous
}

/** Enough frames to get past Fastify. */
const framesSearched = 24
const framework = /[\\/]node_modules[\\/](?:fastify|avvio|fastify-plugin)[\\/]/

/** Finds where the application called `below`: the first frame outside Fastify and the profiler. */
export function registrationSite(below: AnyFunction): Location | null {
  for (const site of captureSites(below, framesSearched)) {
    const name = site.getFileName()
    if (typeof name !== 'string') continue
    const file = pathOf(name)
    if (isProfilerFile(file) || file.startsWith('node:') || framework.test(file)) continue
    return originalLocation({ file, line: site.getLineNumber() ?? 0, column: site.getColumnNumber() ?? 0 })
  }
  return null
}
