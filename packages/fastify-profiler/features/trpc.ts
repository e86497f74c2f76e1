import type { FastifyInstance } from 'fastify'
import type { PageSources, RunningFeature } from '../core/feature.ts'
import { isFunction, isRecord, propertyOf, setMethod } from '../core/foreign-value.ts'
import { currentRecorder } from '../core/watch/recorders.ts'

/** Records the errors of procedures. tRPC catches them, and tells its option `onError` alone. */
export function watchTrpc({ app }: PageSources): RunningFeature {
  const register = app.register
  setMethod(app, 'register', function watched(this: FastifyInstance, plugin: unknown, ...rest: unknown[]): unknown {
    const [options] = rest
    const isTrpc = isFunction(plugin) && plugin.name === 'fastifyTRPCPlugin' && isRecord(options)
    if (isTrpc && isRecord(options.trpcOptions)) rest[0] = { ...options, trpcOptions: telling(options.trpcOptions) }
    return Reflect.apply(register, this, [plugin, ...rest])
  })
  return {}
}

function telling(options: Record<string, unknown>): Record<string, unknown> {
  const { onError } = options
  return {
    ...options,
    onError(told: unknown) {
      currentRecorder()?.exception(propertyOf(told, 'error'))
      if (isFunction(onError)) Reflect.apply(onError, options, [told])
    },
  }
}
