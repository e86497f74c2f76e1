import { propertyOf } from '../../../core/foreign-value.ts'
import { driverBoundary } from '../../../core/guard.ts'
import { openRecorder } from '../../../core/watch/recorders.ts'
import { type Driver, replaceMethod } from './driver.ts'

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
