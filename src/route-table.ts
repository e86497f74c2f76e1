import { METHODS } from 'node:http'
import findMyWay, { type HTTPMethod } from 'find-my-way'

interface Route {
  method: string
  /** Among all routes, in the order of registration. */
  position: number
}

/**
 * Which routes there are, asked only when a request matched none: Fastify's own router does not say which methods a
 * path's routes declare.
 */
export class RouteTable {
  readonly #router = findMyWay()
  readonly #methods = new Set<HTTPMethod>()
  #size = 0

  /** Of routes that differ by their constraints only the first counts. */
  add (method: string, url: string): void {
    if (!isMethod(method) || this.#router.findRoute(method, url) !== null) return
    // Fastify adds a HEAD after each GET, and refuses a declared one there.
    if (method === 'HEAD' && this.#router.findRoute('GET', url) !== null) return
    const route: Route = { method, position: this.#size++ }
    this.#router.on(method, url, () => {}, route)
    this.#methods.add(method)
  }

  /** Whether a route answers the method at this raw path. */
  has (method: HTTPMethod, path: string): boolean {
    return this.#find(method, path) !== undefined
  }

  /** The methods that the routes of a raw path declare, in the order of their registration. */
  methodsOf (path: string): string[] {
    return [...this.#methods]
      .map(method => this.#find(method, path))
      .filter(route => route !== undefined)
      .sort((one, other) => one.position - other.position)
      .map(route => route.method)
  }

  #find (method: HTTPMethod, path: string): Route | undefined {
    return this.#router.find(method, path)?.store
  }
}

function isMethod (method: string): method is HTTPMethod {
  return METHODS.includes(method)
}
