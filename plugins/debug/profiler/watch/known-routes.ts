import type { FastifyInstance } from 'fastify'
import FindMyWay from 'find-my-way'
import type { Config, HTTPMethod, HTTPVersion } from 'find-my-way'
import { attempt } from '../base/foreign-value.ts'
import type { NearMiss, Route } from '../base/profile.ts'

const nearMissesShown = 6

/** Limits the time that comparing paths takes. Further routes are not suggested. */
const routesCompared = 3000

/** The parts of a request that decide on its route. */
export interface Asked {
  method: string
  path: string
  host: string
  version: string
}

type Constraints = Readonly<Record<string, unknown>>

interface Entry {
  route: Route
  constraints: Constraints
}

interface Candidate {
  route: Route
  distance: number
  reason: NearMiss['reason']
}

/** The key of the Route in each route's config. Patterns alone are not unique. */
const routeOfConfig = Symbol('profiler.route')

/** Adds the route to its config, for `find`. */
export function withRoute(config: object | undefined, route: Route): object {
  return { ...config, [routeOfConfig]: route }
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
  const told: Record<string, unknown>[] = [{ ...initialConfig.routerOptions }, { ...initialConfig }]
  return Object.fromEntries(
    Object.entries(pathDefaults).map(([name, byDefault]) => {
      const values = told.map(options => options[name]).filter(value => value !== undefined && value !== byDefault)
      return [name, values[0] ?? byDefault]
    }),
  )
}

/** Keeps the application's routes, and finds those that a request matched or nearly matched. */
export class KnownRoutes {
  readonly routes: Route[] = []
  readonly #entries: Entry[] = []
  readonly #known = new Set<unknown>()
  readonly #methods = new Set<HTTPMethod>()
  readonly #router: FindMyWay.Instance<HTTPVersion.V1>

  /** @param options from `pathOptions`, so that this router matches the same paths as the application's */
  constructor(options: Config<HTTPVersion.V1> = {}) {
    this.#router = FindMyWay(options)
  }

  add(route: Route, constraints: Constraints = {}): void {
    this.routes.push(route)
    this.#entries.push({ route, constraints })
    this.#known.add(route)
    for (const method of route.method.filter(isMethod)) {
      this.#methods.add(method)
      // The handler is never called, so any function does. The router throws for a pattern that it has already, under
      // another constraint: then the first one stands for all.
      attempt(() => this.#router.on(method, route.url, String, route), undefined)
    }
  }

  /** The route with this config; null if it was added before the profiler. */
  find(config: object): Route | null {
    const route: unknown = Reflect.get(config, routeOfConfig)
    return this.#isRoute(route) ? route : null
  }

  /** The routes that are similar to a path without a match, nearest first. */
  nearMisses(asked: Asked): NearMiss[] {
    const { method, path } = asked
    const misses = new Map<Route, NearMiss>()
    const add = (route: Route, reason: NearMiss['reason'], distance: number) => {
      if (!misses.has(route)) misses.set(route, { ...route, reason, distance })
    }
    const similar = this.#similar(asked)
    for (const { route, reason } of similar) if (reason !== 'similar' && reason !== 'case') add(route, reason, 0)
    for (const route of this.#matching(path)) if (!route.method.includes(method)) add(route, 'method', 0)
    const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
    if (slashed !== '') for (const route of this.#matching(slashed)) add(route, 'slash', 1)
    for (const { route, reason, distance } of similar) add(route, reason, distance)
    return [...misses.values()].slice(0, nearMissesShown)
  }

  #isRoute(value: unknown): value is Route {
    return this.#known.has(value)
  }

  #matching(path: string): Set<Route> {
    const routes = new Set<Route>()
    for (const method of this.#methods) {
      const found = this.#find(method, path)
      if (found !== null && !isCatchAll(found)) routes.add(found)
    }
    return routes
  }

  #find(method: HTTPMethod, path: string): Route | null {
    const found = this.#router.find(method, path)
    return this.routes.find(route => route === found?.store) ?? null
  }

  #similar(asked: Asked): Candidate[] {
    const { path } = asked
    const wanted = segmentsOf(path)
    const candidates: Candidate[] = []
    for (const entry of this.#entries.slice(0, routesCompared)) {
      const { route } = entry
      if (isCatchAll(route)) continue
      const distance = pathDistance(wanted, segmentsOf(route.url))
      const length = Math.max(path.length, 4)
      if (distance > Math.max(2, length * 0.4)) continue
      const reason = distance === 0 ? this.#refusal(entry, asked) : 'similar'
      if (reason !== null) candidates.push({ route, distance, reason })
    }
    return candidates.sort((one, other) => one.distance - other.distance)
  }

  /** Why a route with the same path did not match; null if the reason is listed elsewhere (method, slash). */
  #refusal({ route, constraints }: Entry, { method, path, host, version }: Asked): NearMiss['reason'] | null {
    if (route.method.filter(isMethod).some(each => this.#find(each, path)?.url === route.url)) {
      if (!route.method.includes(method)) return null
      if (!admits(constraints.host, host)) return 'host'
      if (constraints.version !== undefined && constraints.version !== version) return 'version'
      return Object.keys(constraints).some(name => name !== 'host' && name !== 'version') ? 'constraint' : null
    }
    if (path.includes('//') || path.endsWith('/') !== route.url.endsWith('/')) return 'similar'
    if (!isSameCase(segmentsOf(path), segmentsOf(route.url))) return 'case'
    return 'parameter'
  }
}

/** Whether a host satisfies a route's host constraint, a string or a pattern. */
function admits(constraint: unknown, host: string): boolean {
  if (constraint === undefined) return true
  return constraint instanceof RegExp ? constraint.test(host) : constraint === host
}

function isSameCase(path: readonly string[], pattern: readonly string[]): boolean {
  return pattern.every((expected, index) => isPlaceholder(expected) || expected === path[index])
}

function isPlaceholder(segment: string): boolean {
  return segment.includes(':') || segment === '*'
}

/** Catch-all routes match every path, so they are never suggested. */
function isCatchAll({ url }: Route): boolean {
  return url === '*' || url === '/*'
}

function isMethod(method: string): method is HTTPMethod {
  return /^[A-Z-]+$/.test(method) && method !== '*'
}

function segmentsOf(path: string): string[] {
  return path
    .split('/')
    .filter(segment => segment !== '')
    .map(segment => segment.slice(0, 64))
}

/** The case-insensitive edit distance of two paths. Parameters match any segment; an extra segment costs its length. */
function pathDistance(wanted: readonly string[], pattern: readonly string[]): number {
  if (Math.abs(wanted.length - pattern.length) > 2) return Infinity
  let distance = 0
  for (let index = 0; index < Math.max(wanted.length, pattern.length); index++) {
    const [segment = '', expected = ''] = [wanted[index], pattern[index]]
    const matches = segment !== '' && (expected.startsWith(':') || expected === '*')
    if (!matches) distance += edits(segment.toLowerCase(), expected.toLowerCase())
  }
  return distance
}

/** The Levenshtein distance of two words. */
function edits(word: string, other: string): number {
  const letters = other.split('')
  let start = 0
  let row = letters.map((_letter, column) => column + 1)
  for (const letter of word.split('')) {
    let diagonal = start++
    let left = start
    row = row.map((above, column) => {
      left = Math.min(above + 1, left + 1, diagonal + Number(letters[column] !== letter))
      diagonal = above
      return left
    })
  }
  return row.at(-1) ?? start
}
