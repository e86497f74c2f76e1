import { createRequire } from 'node:module'
import { isPromise } from 'node:util/types'
import { pino } from 'pino'
import { captureSites, pathOf } from '../core/call-site.ts'
import type { PageSources, RunningFeature } from '../core/feature.ts'
import {
  type AnyFunction,
  attempt,
  isError,
  isFunction,
  isObject,
  isRecord,
  listOf,
  propertyOf,
  textOf,
} from '../core/foreign-value.ts'
import { driverBoundary } from '../core/guard.ts'
import { openRecorder } from '../core/watch/current-recorder.ts'
import { placeOf, registeringAt } from '../core/watch/describe-function.ts'
import { hasOtherLogger, profiledLogger, recordEveryLineOf } from './logs/log-recorder.ts'
import { prototypeOf, replaceMethod, toldMethod } from './queries/drivers/driver.ts'
import { dependentFile } from './queries/unwatched.ts'

/**
 * Watches an application that Nest has made: the exceptions that its filters answer, its controllers and guards, and
 * the lines of its loggers. Nest is loaded by then, so that `require` returns the application's own copy at once.
 */
export function watchNest({ app, root }: PageSources): RunningFeature {
  const adapter = adapterFile() ?? dependentFile('@nestjs/platform-fastify', root)
  if (adapter === null) return {}
  const load = (name: string): unknown => attempt((): unknown => createRequire(adapter)(name), null)
  driverBoundary.guard(() => {
    const core = (file: string, name: string) => prototypeOf(load(`@nestjs/core/${file}.js`), name)
    replaceMethod(core('exceptions/exceptions-handler', 'ExceptionsHandler'), 'next', next =>
      toldMethod(next, (_handler, [exception]) => openRecorder()?.exception(exception)),
    )
    replaceMethod(core('router/router-explorer', 'RouterExplorer'), 'applyCallbackToRouter', locateController)
    replaceMethod(core('interceptors/interceptors-consumer', 'InterceptorsConsumer'), 'intercept', intercept =>
      toldMethod(intercept, timeController),
    )
    replaceMethod(core('guards/guards-consumer', 'GuardsConsumer'), 'tryActivate', timeGuards)
    const common = load('@nestjs/common')
    for (const owner of [
      prototypeOf(common, 'Logger'),
      propertyOf(common, 'Logger'),
      prototypeOf(common, 'ConsoleLogger'),
    ]) {
      for (const [name, level] of Object.entries(levels)) replaceMethod(owner, name, log => recordLine(log, level))
    }
    hasOtherLogger(app)
  }, undefined)
  return {
    ready() {
      // nestjs-pino makes its logger when Nest starts.
      const logger = propertyOf(propertyOf(load('nestjs-pino'), 'PinoLogger'), 'root')
      if (isObject(logger)) recordEveryLineOf(logger)
    },
  }
}

const framesSearched = 24
const inAdapter = /[\\/]@nestjs[\\/]platform-fastify[\\/]/

/** The file of Nest's adapter that makes this Fastify instance; null if nothing on the stack is one. */
function adapterFile(): string | null {
  const files = captureSites(adapterFile, framesSearched).map(site => pathOf(site.getFileName() ?? ''))
  return files.find(file => inAdapter.test(file)) ?? null
}

/**
 * Called for each route at the start, when looking for a line delays no request. The stack then names Nest's adapter
 * instead of the controller.
 */
function locateController(register: AnyFunction): AnyFunction {
  return function located(this: object, ...args: unknown[]): unknown {
    const place = driverBoundary.guard(() => placeOf(propertyOf(args[1], 'targetCallback')), null)
    return registeringAt(place, (): unknown => Reflect.apply(register, this, args))
  }
}

/** Times the controller with its pipes: what the last interceptor calls. */
function timeController(_consumer: object, args: unknown[]): void {
  const [, , controller, method, next] = args
  const nameOf = () => `${classOf(controller)}.${textOf(propertyOf(method, 'name'))}`
  if (isFunction(next)) args[4] = () => inSpan(nameOf, () => method, next)
}

function timeGuards(tryActivate: AnyFunction): AnyFunction {
  return function timed(this: object, ...args: unknown[]): unknown {
    const guards = listOf(args[0])
    const call = (): unknown => Reflect.apply(tryActivate, this, args)
    if (guards.length === 0) return call()
    const subjectOf = () => propertyOf(guards[0], 'canActivate')
    return inSpan(() => guards.map(classOf).join(', '), subjectOf, call)
  }
}

function classOf(instance: unknown): string {
  return textOf(propertyOf(propertyOf(instance, 'constructor'), 'name'))
}

/** Calls one of Nest's async functions in a span, on the line of what it calls. */
function inSpan(nameOf: () => string, subjectOf: () => unknown, call: AnyFunction): unknown {
  const span = driverBoundary.guard(
    () => openRecorder()?.span({ kind: 'handler', name: nameOf(), location: placeOf(subjectOf()) }),
    undefined,
  )
  const result: unknown = Reflect.apply(call, undefined, [])
  if (span === undefined || !isPromise(result)) return result
  const end = (outcome?: 'threw') => driverBoundary.guard(() => span.end(outcome), undefined)
  // Returned instead of the promise itself, because V8's stacks end at a promise that two wait for.
  return result.then(
    value => {
      end()
      return value
    },
    (error: unknown) => {
      end('threw')
      throw error
    },
  )
}

/** Writes the lines of Nest's loggers into profiles, and nowhere else. */
const { stream, ...options } = profiledLogger(false)
const lines = pino(options, stream)

/** Pino's level for each of Nest's. */
const levels = { verbose: 'trace', debug: 'debug', log: 'info', warn: 'warn', error: 'error', fatal: 'fatal' } as const

/** Records a line of a logger, unless the logger below it has done so. */
function recordLine(log: AnyFunction, level: (typeof levels)[keyof typeof levels]): AnyFunction {
  return function logged(this: unknown, ...args: unknown[]): unknown {
    const recorder = openRecorder()
    const before = recorder?.lineCount
    const result: unknown = Reflect.apply(log, this, args)
    if (recorder?.lineCount !== before || recorder === null) return result
    driverBoundary.guard(() => {
      const [message, ...others] = args
      // Nest's Logger passes its context on as the last argument.
      const last = others.at(-1)
      const context = typeof last === 'string' && !isStack(last) ? others.pop() : propertyOf(this, 'context')
      const values = [message, ...others].filter(value => value !== undefined)
      const [err, stack] = [values.find(isError), values.find(isStack)]
      const fields: Record<string, unknown> = { context, stack, err }
      for (const value of values) {
        if (isRecord(value) && !isFunction(value) && !isError(value)) Object.assign(fields, value)
      }
      const texts = values.filter(value => (!isRecord(value) || isFunction(value)) && value !== stack)
      lines[level](fields, texts.map(textOf).join(' ') || err?.message)
    }, undefined)
    return result
  }
}

function isStack(value: unknown): boolean {
  return typeof value === 'string' && /\n\s+at /.test(value)
}
