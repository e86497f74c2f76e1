import type { FastifyInstance } from 'fastify'
import type { PageSources, RunningFeature } from '../core/feature.ts'
import { isFunction, isObject, propertyOf, setMethod } from '../core/foreign-value.ts'
import { driverBoundary } from '../core/guard.ts'
import { openRecorder } from '../core/watch/recorders.ts'

/** Records the errors of procedures. tRPC catches them, and tells its option `onError` alone. */
export function watchTrpc({ app }: PageSources): RunningFeature {
  const register = app.register
  setMethod(app, 'register', function watched(this: FastifyInstance, ...args: unknown[]): unknown {
    driverBoundary.guard(() => {
      const [plugin, options] = args
      if (isFunction(plugin) && plugin.name === 'fastifyTRPCPlugin') hearErrors(propertyOf(options, 'trpcOptions'))
    }, undefined)
    return Reflect.apply(register, this, args)
  })
  return {}
}

/** Options that tell of their errors. An application may register the plugin with the same ones again. */
const heard = new WeakSet<object>()

/** Sets the option in the application's own object, since a copy would lack what its class has. */
function hearErrors(options: unknown): void {
  if (!isObject(options) || heard.has(options)) return
  heard.add(options)
  const onError = propertyOf(options, 'onError')
  Reflect.set(options, 'onError', function told(this: unknown, ...args: unknown[]): unknown {
    driverBoundary.guard(() => openRecorder()?.exception(propertyOf(args[0], 'error')), undefined)
    const answer: unknown = isFunction(onError) ? Reflect.apply(onError, this, args) : undefined
    return answer
  })
}
