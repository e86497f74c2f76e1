import FindMyWay from 'find-my-way'
import type { HTTPMethod } from 'find-my-way'
import type { NearMiss, Route } from './profile.ts'

/** More would be no help to a reader. */
const nearMissesShown = 6

/** Comparing paths grows with the number of routes; an application with more gets fewer guesses. */
const routesCompared = 3000

/** The routes as they stand, to say of a request what it matched, or what it nearly did. */
export class RouteTable {
  readonly routes: Route[] = []
  readonly #byPattern = new Map<string, Route>()
  readonly #methods = new Set<HTTPMethod>()
  readonly #router = FindMyWay({ ignoreTrailingSlash: false })

  add (route: Route): void {
    this.routes.push(route)
    for (const method of route.method) {
      const key = `${method} ${route.url}`
      // The same pattern for another host: the first one stands for all.
      if (this.#byPattern.has(key)) continue
      this.#byPattern.set(key, route)
      if (isMethod(method)) {
        this.#methods.add(method)
        // The router asks for a handler and is never told to call it: any function does.
        this.#router.on(method, route.url, String, route)
      }
    }
  }

  /** The route a pattern belongs to; a HEAD that Fastify added belongs to its GET. */
  find (method: string, pattern: string): Route | null {
    return this.#byPattern.get(`${method} ${pattern}`) ??
      (method === 'HEAD' ? this.#byPattern.get(`GET ${pattern}`) : undefined) ??
      null
  }

  /** Which routes a path that matched nothing was close to, the nearest first. */
  nearMisses (method: string, path: string): NearMiss[] {
    const misses = new Map<Route, NearMiss>()
    const add = (route: Route, reason: NearMiss['reason'], distance: number) => {
      if (!misses.has(route)) misses.set(route, { ...route, reason, distance })
    }
    for (const route of this.#matching(path)) if (!route.method.includes(method)) add(route, 'method', 0)
    const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
    if (slashed !== '') for (const route of this.#matching(slashed)) add(route, 'slash', 1)
    for (const { route, distance } of this.#similar(path)) add(route, 'similar', distance)
    return [...misses.values()].slice(0, nearMissesShown)
  }

  #matching (path: string): Set<Route> {
    const routes = new Set<Route>()
    for (const method of this.#methods) {
      const found = this.#find(method, path)
      if (found !== null && !isCatchAll(found)) routes.add(found)
    }
    return routes
  }

  #find (method: HTTPMethod, path: string): Route | null {
    const found = this.#router.find(method, path)
    return this.routes.find(route => route === found?.store) ?? null
  }

  #similar (path: string): Array<{ route: Route, distance: number }> {
    const wanted = segmentsOf(path)
    const candidates: Array<{ route: Route, distance: number }> = []
    for (const route of this.routes.slice(0, routesCompared)) {
      if (isCatchAll(route)) continue
      const distance = pathDistance(wanted, segmentsOf(route.url))
      const length = Math.max(path.length, 4)
      if (distance > 0 && distance <= Math.max(2, length * 0.4)) candidates.push({ route, distance })
    }
    return candidates.sort((one, other) => one.distance - other.distance)
  }
}

/** A route for everything is near to nothing. */
function isCatchAll ({ url }: Route): boolean {
  return url === '*' || url === '/*'
}

function isMethod (method: string): method is HTTPMethod {
  return /^[A-Z-]+$/.test(method) && method !== '*'
}

function segmentsOf (path: string): string[] {
  return path.split('/').filter(segment => segment !== '').map(segment => segment.slice(0, 64))
}

/** Edits between two paths; a parameter matches any segment, a segment too many costs its length. */
function pathDistance (wanted: readonly string[], pattern: readonly string[]): number {
  if (Math.abs(wanted.length - pattern.length) > 2) return Infinity
  let distance = 0
  for (let index = 0; index < Math.max(wanted.length, pattern.length); index++) {
    const [segment = '', expected = ''] = [wanted[index], pattern[index]]
    const matches = segment !== '' && (expected.startsWith(':') || expected === '*')
    if (!matches) distance += edits(segment, expected)
  }
  return distance
}

/** The Levenshtein distance of two words, row by row of the usual table. */
function edits (word: string, other: string): number {
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
