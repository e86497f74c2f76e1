import FindMyWay, { type HTTPMethod, type HTTPVersion } from 'find-my-way'
import type { Collecting } from '../../core/feature.ts'
import { attempt, read } from '../../core/foreign-value.ts'
import type { NearMiss, Profile, Route } from '../../core/profile.ts'
import { pathOfUrl, requestHost } from '../../core/urls.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { Exchange } from '../../core/watch/exchange.ts'
import type { KnownRoute, KnownRoutes, MatchedPattern } from '../../core/watch/known-routes.ts'

/** The parts of a path between its slashes. Long ones are cut, or comparing them would take too long. */
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

/** The name that was probably meant by a word: the nearest, of which at most two letters differ. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  if (word === '') return undefined
  const near = names.map(name => ({ name, distance: pathDistance([word], [name]) }))
  return near.sort((one, other) => one.distance - other.distance).find(({ distance }) => distance <= 2)?.name
}

const nearMissesShown = 6

/** Limits the time that comparing paths takes. Further routes are not suggested. */
const routesCompared = 3000

/** The parts of a request that decide on its route. */
interface Asked {
  method: string
  path: string
  host: string
  version: string
}

interface Candidate {
  route: Route
  distance: number
  reason: NearMiss['reason']
}

class SimilarRoutes {
  readonly #known: KnownRoutes
  readonly #router: FindMyWay.Instance<HTTPVersion.V1>
  readonly #routeOf = new Map<unknown, Route>()
  readonly #methods = new Set<HTTPMethod>()
  /** The number of known routes that the router has. */
  #learned = 0

  constructor(known: KnownRoutes) {
    this.#known = known
    this.#router = FindMyWay(known.paths)
  }

  /** The routes that are similar to a path without a match, nearest first. */
  nearMisses(asked: Asked): NearMiss[] {
    this.#learn()
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
    const nearest = withoutTwins([...misses.values()]).slice(0, nearMissesShown)
    const catchAlls = this.#catchAlls(path)
    if (nearest.length < nearMissesShown && !catchAlls.some(route => admitsMethod(route, method))) {
      for (const route of catchAlls) nearest.push({ ...route, reason: 'method', distance: 0 })
    }
    return nearest
  }

  #learn(): void {
    for (const { route } of this.#known.all.slice(this.#learned)) {
      this.#routeOf.set(route, route)
      for (const method of route.method.filter(isMethod)) {
        this.#methods.add(method)
        // The handler is never called, so any function does. The router throws for a pattern that it has already, under
        // another constraint: then the first one stands for all.
        attempt(() => this.#router.on(method, route.url, String, route), undefined)
      }
    }
    this.#learned = this.#known.all.length
  }

  #matching(path: string): Route[] {
    return this.#allFor(path).filter(route => !isCatchAll(route))
  }

  #catchAlls(path: string): Route[] {
    return this.#allFor(path).filter(isCatchAll)
  }

  /** The routes of a path, whatever its method. */
  #allFor(path: string): Route[] {
    const found = [...this.#methods].map(method => this.#find(method, path))
    return [...new Set(found)].filter(route => route !== null)
  }

  #find(method: HTTPMethod, path: string): Route | null {
    return this.#routeOf.get(this.#router.find(method, path)?.store) ?? null
  }

  #similar(asked: Asked): Candidate[] {
    const { path } = asked
    const wanted = segmentsOf(path)
    const candidates: Candidate[] = []
    for (const entry of this.#known.all.slice(0, routesCompared)) {
      const { route } = entry
      if (isCatchAll(route)) continue
      const distance = pathDistance(wanted, segmentsOf(route.url))
      const length = Math.max(path.length, 4)
      if (distance > Math.max(2, length * 0.4)) continue
      const reason = distance === 0 ? this.#refusal(entry, asked) : 'similar'
      if (reason !== null) candidates.push({ route, distance, reason })
    }
    // Another method, or a slash at the end, is one more thing to change.
    const changesOf = ({ distance, route }: Candidate) =>
      distance + Number(!admitsMethod(route, asked.method)) + Number(path.endsWith('/') !== route.url.endsWith('/'))
    return candidates.sort((one, other) => changesOf(one) - changesOf(other))
  }

  /** Why a route with the same path did not match; null if the reason is listed elsewhere (method, slash). */
  #refusal({ route, constraints }: KnownRoute, { method, path, host, version }: Asked): NearMiss['reason'] | null {
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

/** Leaves out a route that differs from a nearer one by nothing but a slash at the end. */
function withoutTwins(misses: readonly NearMiss[]): NearMiss[] {
  const nearest = new Map<string, NearMiss>()
  return misses.filter(miss => {
    const { host, method, url, version } = miss
    const key = JSON.stringify([url.replace(/\/$/, ''), host, version, method])
    const twin = nearest.get(key) ?? miss
    nearest.set(key, twin)
    return twin.url === url
  })
}

/** Whether a route is for a method. That of GET is for HEAD as well. */
export function admitsMethod({ method }: Pick<Route, 'method'>, asked: string): boolean {
  return method.includes(asked) || (asked === 'HEAD' && method.includes('GET'))
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

/** Catch-all routes match every path, so they are suggested only for another method. */
export function isCatchAll({ url }: Pick<Route, 'url'>): boolean {
  return url === '*' || url === '/*'
}

function isMethod(method: string): method is HTTPMethod {
  return /^[A-Z-]+$/.test(method) && method !== '*'
}

/** The route of a request; null for one for all paths that has found nothing, as that of static files may. */
export function matchedRoute({ request, route }: Exchange): MatchedPattern | null {
  return route !== null && isCatchAll(route) && request?.is404 === true ? null : route
}

/** Kept for the profile of a request whose error page has shown them. */
const shown = new WeakMap<object, NearMiss[]>()

/** The route that a request matched, or the routes similar to its path. */
export function collectRouting({ exchange, mask, routes }: Collecting): Pick<Profile, 'routing'> {
  const { recorder, request } = exchange
  const route = matchedRoute(exchange)
  const count = routes.all.length
  const describe = ({ handler, url }: MatchedPattern): Route => ({
    // Defaults for a route that was added before the profiler and is unknown.
    method: [recorder.method],
    url,
    host: null,
    handler: `${recorder.method} ${url}`,
    plugin: null,
    location: null,
    ...routes.find(handler),
  })
  if (route === null) {
    const gaveUp = exchange.route === null ? {} : { gaveUp: describe(exchange.route) }
    return { routing: { matched: null, ...gaveUp, nearMisses: nearMissesOf(exchange, routes), routes: count } }
  }
  const params = mask.record(request === null ? null : read(request, 'params'))
  return { routing: { matched: { ...describe(route), params }, nearMisses: [], routes: count } }
}

const similarities = new Attachment<SimilarRoutes>()

function nearMissesOf(exchange: Exchange, routes: KnownRoutes): NearMiss[] {
  const similar = similarities.get(routes) ?? new SimilarRoutes(routes)
  similarities.set(routes, similar)
  const misses = shown.get(exchange.raw) ?? similar.nearMisses(askedOf(exchange))
  shown.set(exchange.raw, misses)
  return misses
}

function askedOf({ raw, recorder: { method, url } }: Exchange): Asked {
  return {
    method,
    path: pathOfUrl(url),
    host: requestHost(raw) ?? '',
    version: String(raw.headers['accept-version'] ?? ''),
  }
}
