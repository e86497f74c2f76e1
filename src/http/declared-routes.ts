import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import findMyWay from 'find-my-way'

declare module 'find-my-way' {
  // Fastify uses these, and the package's own types leave them out.
  interface Instance<V extends HTTPVersion> {
    constrainer: {
      deriveConstraints(request: Req<V>, context: undefined, done: Derived): void
    }
    addConstraintStrategy(strategy: ConstraintStrategy<V, unknown>): void
    on(method: string, path: string, options: RouteOptions, handler: () => void, store: unknown): void
    find<Store>(method: string, path: string, derived?: Constraints): { store: Store } | null
    findRoute<Store>(method: string, path: string, constraints?: Constraints): { store: Store } | null
  }
}

/** By the names of their strategies: what routes demand, or what a request has. */
export type Constraints = Record<string, unknown>

type Derived = (error: Error | null, derived?: Constraints) => void

export interface Route {
  method: string | readonly string[]
  url: string
  constraints?: Constraints | null | undefined
  /** False where Fastify adds no HEAD route to this GET. */
  exposeHeadRoute?: boolean | undefined
}

/** What the router holds of a route. */
interface Entry {
  position: number
  exposesHead: boolean
}

/**
 * Which routes there are, asked only when a request matched none: Fastify's own router does not say which methods a
 * path's routes declare.
 */
export class RouteTable {
  /** Fastify's own is hidden: this one has the same routes and constraint strategies, and answers the same. */
  readonly #router = findMyWay<findMyWay.HTTPVersion.V1>()
  readonly #methods = new Set<string>()
  readonly #listed = new Map<string, { method: string; url: string }>()
  #count = 0

  /** Adds a route, but for the HEAD that Fastify itself adds to a GET, which nobody declared. */
  add({ method: methods, url, constraints, exposeHeadRoute = true }: Route): void {
    const demanded = constraints ?? {}
    const declared = [methods].flat()
    const entry: Entry = { position: this.#count++, exposesHead: exposeHeadRoute && !declared.includes('HEAD') }
    for (const method of declared) {
      if (method === 'HEAD' && this.#entryOf('GET', url, demanded)?.exposesHead === true) continue
      this.#router.on(method, url, { constraints: demanded }, () => {}, entry)
      this.#methods.add(method)
      const key = `${method} ${url}`
      if (!this.#listed.has(key)) this.#listed.set(key, { method, url })
    }
  }

  /** Adds a strategy, which has to come before the routes that use it. */
  addConstraintStrategy(strategy: Parameters<FastifyInstance['addConstraintStrategy']>[0]): void {
    this.#router.addConstraintStrategy(strategy)
  }

  /** All of them, in the order of their registration; those that differ by their constraints once. */
  routes(): readonly { method: string; url: string }[] {
    return [...this.#listed.values()]
  }

  /** Tells what a request has that routes may demand; at once, unless a strategy is asynchronous. */
  deriveConstraints(request: IncomingMessage, done: Derived): void {
    this.#router.constrainer.deriveConstraints(request, undefined, done)
  }

  /** Whether a route answers the method at this raw path, for a request that has these constraints. */
  has(method: string, path: string, derived?: Constraints): boolean {
    return this.#find(method, path, derived) !== null
  }

  /** The methods that the routes of a raw path declare, in the order of their registration. */
  methodsOf(path: string, derived?: Constraints): string[] {
    const found: Array<{ method: string; position: number }> = []
    for (const method of this.#methods) {
      const match = this.#find(method, path, derived)
      if (match !== null) found.push({ method, position: match.store.position })
    }
    return found.sort((one, other) => one.position - other.position).map(({ method }) => method)
  }

  #find(method: string, path: string, derived: Constraints | undefined) {
    // The router takes whatever stands in place of the first slash for one.
    return path.startsWith('/') ? this.#router.find<Entry>(method, path, derived) : null
  }

  #entryOf(method: string, url: string, constraints: Constraints): Entry | undefined {
    // The router stores "*" under this name, and looks for it under its own.
    return this.#router.findRoute<Entry>(method, url === '*' ? '/*' : url, constraints)?.store
  }
}
