import { isFunction, isObject, propertyOf, setMethod } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import { openRecorder } from '../../core/watch/current-recorder.ts'
import { type Driver, prototypeOf, whenSet } from '../queries/drivers/driver.ts'
import type { FastifyInstance } from 'fastify'
import type { PageSources, RunningFeature } from '../../core/feature.ts'

/**
 * Servers of GraphQL catch the errors of resolvers, and report them beside the data. All of them make an error of each
 * that has its path and itself. The functions that do so cannot be replaced: graphql 17 consists of ES modules.
 */
export const graphqlDriver: Driver = {
  packages: ['graphql'],
  patch(exports) {
    whenSet(prototypeOf(exports, 'GraphQLError'), 'originalError', (located, error) => {
      if (error != null && propertyOf(located, 'path') !== undefined) openRecorder()?.exception(error)
    })
  },
  moduleFiles: file => (file.endsWith('.mjs') ? [file] : []),
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
