import { captureSites, isProfilerFile, originalLocation, pathOf } from '../call-site.ts'
import { type AnyFunction, attempt, isFunction, isObject, propertyOf, read, textOf } from '../foreign-value.ts'
import type { DispatchPointName, Location, SpanKind } from '../profile.ts'
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

/** Who has registered a function, and where. */
export interface Origin {
  plugin: string | null
  location: Location | null
}

export function describeHook(hook: AnyFunction, name: string, routeLevel: boolean, origin: Origin): TracedFunction {
  const point = dispatchPoints[name] ?? null
  return {
    ...describeFunction(hook, 'hook', origin),
    hook: name,
    routeLevel,
    // A route's own preHandler hooks run last, when the arguments are complete.
    dispatchPoint: routeLevel && name === 'preHandler' ? 'kernel.controller_arguments' : point,
  }
}

export function describeFunction(subject: AnyFunction, kind: SpanKind, origin: Origin): TracedFunction {
  return {
    kind,
    name: nameOf(subject),
    hook: null,
    routeLevel: false,
    dispatchPoint: null,
    plugin: origin.plugin,
    location: origin.location,
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

/** The place that registrationSite returns while this is set. */
let siteHint: Location | null = null

/** Makes a call that registers a function of this place, which no stack tells. */
export function registeringAt<Result>(place: Location | null, call: () => Result): Result {
  siteHint = place
  try {
    return call()
  } finally {
    siteHint = null
  }
}

/** Finds where the application called `below`: the first frame outside Fastify and the profiler. */
export function registrationSite(below: AnyFunction): Location | null {
  if (siteHint !== null) return siteHint
  for (const site of captureSites(below, framesSearched)) {
    const name = site.getFileName()
    if (typeof name !== 'string') continue
    const file = pathOf(name)
    if (isProfilerFile(file) || file.startsWith('node:') || framework.test(file)) continue
    return originalLocation({ file, line: site.getLineNumber() ?? 0, column: site.getColumnNumber() ?? 0 })
  }
  return null
}

const places = new WeakMap<object, Location | null>()
/** The files of scripts, by their ids. */
const scripts = new Map<string, string>()

/** Where a function stands, which V8 tells the inspector alone. Asked once for each: the first takes about 15 ms. */
export function placeOf(subject: unknown): Location | null {
  if (!isFunction(subject)) return null
  const known = places.get(subject)
  if (known !== undefined) return known
  const place = attempt(() => findPlace(subject), null)
  places.set(subject, place)
  return place
}

const handle = 'fastify-profiler:function'

/** The inspector answers at once, since it is in the same thread. */
function findPlace(subject: AnyFunction): Location | null {
  const { Session } = process.getBuiltinModule('node:inspector')
  const session = new Session()
  session.connect()
  let place: Location | null = null
  try {
    Reflect.set(globalThis, handle, subject)
    session.post('Runtime.evaluate', { expression: `globalThis['${handle}']` }, (_error, { result: { objectId } }) => {
      if (objectId === undefined) return
      session.post(
        'Runtime.getProperties',
        { objectId, ownProperties: true },
        (_error, { internalProperties = [] }) => {
          const found = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')
          const at: unknown = found?.value?.value
          // Bound and native functions have none.
          if (at === undefined) return
          const file = fileOf(String(propertyOf(at, 'scriptId')), session)
          const [line, column] = [Number(propertyOf(at, 'lineNumber')), Number(propertyOf(at, 'columnNumber'))]
          if (file !== undefined && file !== '') place = originalLocation({ file, line: line + 1, column: column + 1 })
        },
      )
    })
  } finally {
    Reflect.deleteProperty(globalThis, handle)
    session.disconnect()
  }
  return place
}

function fileOf(script: string, session: InstanceType<typeof import('node:inspector').Session>): string | undefined {
  if (!scripts.has(script)) {
    // Quicker than Debugger.enable, which hashes the texts of all scripts.
    session.post('Profiler.getBestEffortCoverage', (_error, { result }) => {
      for (const { scriptId, url } of result) scripts.set(scriptId, pathOf(url))
    })
  }
  // The coverage lacks a script of which no function has run.
  if (!scripts.has(script)) {
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, pathOf(params.url)))
    session.post('Debugger.enable')
  }
  return scripts.get(script)
}

/** The values of an object's internal symbols with this description; empty if this version of the library has none. */
export function internal(owner: object, description: string): unknown[] {
  const keys = Object.getOwnPropertySymbols(owner).filter(symbol => symbol.description === description)
  return keys.map((key): unknown => Reflect.get(owner, key))
}

/** Fastify's list of an instance's hooks, by name. */
export interface Hooks extends Record<string, unknown> {
  add: (name: string, hook: AnyFunction) => void
}

/** The hooks of a Fastify instance; none if this version keeps them elsewhere. */
export function hooksOf(app: object): Hooks[] {
  return internal(app, 'fastify.hooks').filter(isHooks)
}

/** The encapsulation contexts within a Fastify instance. */
export function childrenOf(app: object): object[] {
  return internal(app, 'fastify.children').flat().filter(isObject)
}

function isHooks(value: unknown): value is Hooks {
  return isObject(value) && 'add' in value && isFunction(value.add)
}
