import { isFunction, isObject, propertyOf, setMethod } from '../../core/foreign-value.ts'
import { openRecorder } from '../../core/watch/current-recorder.ts'
import { type Driver, prototypeOf, toldMethod, whenSet } from '../queries/drivers/driver.ts'
import type { PageSources } from '../../core/feature.ts'

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
export function watchTrpc({ app }: PageSources): void {
  const register = toldMethod(app.register, (_app, [plugin, options]) => {
    if (isFunction(plugin) && plugin.name === 'fastifyTRPCPlugin') hearErrors(propertyOf(options, 'trpcOptions'))
  })
  setMethod(app, 'register', register)
}

/** Options that tell of their errors. An application may register the plugin with the same ones again. */
const heard = new WeakSet<object>()

/** Sets the option in the application's own object, since a copy would lack what its class has. */
function hearErrors(options: unknown): void {
  if (!isObject(options) || heard.has(options)) return
  heard.add(options)
  const onError = propertyOf(options, 'onError')
  const told = toldMethod(isFunction(onError) ? onError : () => {}, (_, [failure]) =>
    openRecorder()?.exception(propertyOf(failure, 'error')),
  )
  Reflect.set(options, 'onError', told)
}
