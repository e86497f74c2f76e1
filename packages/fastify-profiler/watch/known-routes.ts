import type { Route } from '../base/profile.ts'
import type { AnyFunction } from '../base/foreign-value.ts'

export type Constraints = Readonly<Record<string, unknown>>

export interface KnownRoute {
  route: Route
  /** Live values, such as a pattern for hosts. */
  constraints: Constraints
}

/** Records the application's routes. */
export class KnownRoutes {
  readonly all: KnownRoute[] = []
  readonly methods = new Set<string>()
  readonly #byHandler = new WeakMap<AnyFunction, Route>()

  add(route: Route, constraints: Constraints = {}): void {
    this.all.push({ route, constraints })
  }

  /** The route whose handler Fastify calls; null if it was added before the profiler. Patterns alone are not unique. */
  find(handler: AnyFunction): Route | null {
    return this.#byHandler.get(handler) ?? null
  }

  /** Makes `find` know a handler that Fastify calls. */
  setHandler(handler: AnyFunction, route: Route): void {
    this.#byHandler.set(handler, route)
  }

  /**
   * Makes `find` know the function that Fastify will call. All that Fastify keeps of a route's options is a bound copy
   * of its handler.
   */
  withRoute<Handler extends AnyFunction>(handler: Handler, route: Route): Handler {
    const bind = (self: unknown, ...rest: never[]): AnyFunction => {
      const bound = handler.bind(self, ...rest)
      this.setHandler(bound, route)
      return bound
    }
    return new Proxy(handler, {
      get: (target, key): unknown => (key === 'bind' ? bind : Reflect.get(target, key)),
    })
  }
}
