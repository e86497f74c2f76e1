import type { Route } from '../base/profile.ts'

export type Constraints = Readonly<Record<string, unknown>>

export interface KnownRoute {
  route: Route
  /** Live values, such as a pattern for hosts. */
  constraints: Constraints
}

/** The key of the Route in each route's config. Patterns alone are not unique. */
const routeOfConfig = Symbol('profiler.route')

/** Adds the route to its config, for `find`. */
export function withRoute(config: object | undefined, route: Route): object {
  return { ...config, [routeOfConfig]: route }
}

/** Records the application's routes. */
export class KnownRoutes {
  readonly all: KnownRoute[] = []
  readonly #known = new Set<unknown>()

  add(route: Route, constraints: Constraints = {}): void {
    this.all.push({ route, constraints })
    this.#known.add(route)
  }

  /** The route with this config; null if it was added before the profiler. */
  find(config: object): Route | null {
    const route: unknown = Reflect.get(config, routeOfConfig)
    return this.#isRoute(route) ? route : null
  }

  #isRoute(value: unknown): value is Route {
    return this.#known.has(value)
  }
}
