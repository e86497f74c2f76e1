import { isFunction, isObject, propertyOf, setMethod } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import { openRecorder } from '../../core/watch/current-recorder.ts'
import { type Driver, replaceMethod } from '../queries/drivers/driver.ts'
import type { FastifyInstance } from 'fastify'
import type { PageSources, RunningFeature } from '../../core/feature.ts'

/**
 * Servers of GraphQL catch the errors of resolvers, and report them beside the data. All of them pass each error to
 * `locatedError`, which some have imported by now. It calls this inner function, of graphql 16.
 */
export const graphqlDriver: Driver = {
  packages: ['graphql'],
  patch(exports) {
    replaceMethod(exports, 'toError', toError => {
      return function told(this: unknown, ...args: unknown[]): unknown {
        driverBoundary.guard(() => {
          // An error of a field that cannot be null passes again for the fields above, as a GraphQLError.
          if (propertyOf(args[0], 'originalError') == null) openRecorder()?.exception(args[0])
        }, undefined)
        return Reflect.apply(toError, this, args)
      }
    })
  },
}

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
