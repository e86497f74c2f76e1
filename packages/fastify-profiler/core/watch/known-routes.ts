import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Config, HTTPVersion } from 'find-my-way'
import type { AnyFunction } from '../foreign-value.ts'
import type { Route } from '../profile.ts'

type Constraints = Readonly<Record<string, unknown>>

export interface KnownRoute {
  route: Route
  /** Live values, such as a pattern for hosts. */
  constraints: Constraints
  /** Completes the description, once the application is ready. */
  complete: () => void
}

/** What Fastify says about the route of a request. */
export interface MatchedPattern {
  url: string
  handler: AnyFunction
}

/** Records the application's routes. */
export class KnownRoutes {
  readonly all: KnownRoute[] = []
  readonly methods = new Set<string>()
  readonly #byHandler = new WeakMap<AnyFunction, Route>()
  /** How the application's router reads paths. */
  readonly paths: Config<HTTPVersion.V1>

  constructor(paths: Config<HTTPVersion.V1>) {
    this.paths = paths
  }

  add(route: Route, constraints: Constraints = {}, complete = () => {}): void {
    this.all.push({ route, constraints, complete })
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
  withRoute<Handler extends AnyFunction>(handler: Handler, route: Route, given: RouteOptions): Handler {
    const bind = (self: unknown, ...rest: never[]): AnyFunction => {
      const bound = handler.bind(self, ...rest)
      this.setHandler(bound, route)
      // Of "/" below a prefix, Fastify adds a second form, and tells onRoute hooks only of its HEAD route.
      const { constraints, method, url } = given
      if (url !== route.url && method !== 'HEAD') this.add({ ...route, url }, { ...constraints })
      return bound
    }
    return new Proxy(handler, {
      get: (target, key): unknown => (key === 'bind' ? bind : Reflect.get(target, key)),
    })
  }
}

/** The defaults of Fastify's router for reading paths. */
const pathDefaults: Record<string, unknown> = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  allowUnsafeRegex: false,
  useSemicolonDelimiter: false,
  maxParamLength: 100,
}

/**
 * The application's router options for reading paths. Fastify takes them from two places, and fills in its defaults in
 * both. Functions are left out: they must not be called with paths that no client requested.
 */
export function pathOptions({ initialConfig }: Pick<FastifyInstance, 'initialConfig'>): Config<HTTPVersion.V1> {
  const told: Record<string, unknown>[] = [initialConfig.routerOptions ?? {}, initialConfig]
  return Object.fromEntries(
    Object.entries(pathDefaults).map(([name, byDefault]) => {
      const values = told.map(options => options[name]).filter(value => value !== undefined && value !== byDefault)
      return [name, values[0] ?? byDefault]
    }),
  )
}
