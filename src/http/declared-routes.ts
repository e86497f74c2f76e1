import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import findMyWay from 'find-my-way'

declare module 'find-my-way' {
  // Fastify uses these, but the package's types omit them.
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

/** Values by the name of their constraint strategy: those a route requires, or those a request has. */
export type Constraints = Record<string, unknown>

type Derived = (error: Error | null, derived?: Constraints) => void

export interface Route {
  method: string | readonly string[]
  url: string
  constraints?: Constraints | null | undefined
  /** False if Fastify adds no HEAD route to this GET. */
  exposeHeadRoute?: boolean | undefined
}

interface Entry {
  position: number
  exposesHead: boolean
}

/**
 * Lists the methods that the routes of a path declare, which Fastify's router cannot. Only used for requests that match
 * no route.
 */
export class RouteTable {
  /** Fastify's router is private. This one has the same routes and constraint strategies. */
  readonly #router = findMyWay<findMyWay.HTTPVersion.V1>()
  readonly #methods = new Set<string>()
  readonly #listed = new Map<string, { method: string; url: string }>()
  #count = 0

  /** Adds a route. Skips the HEAD routes that Fastify adds to GET routes, because they are not declared. */
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

  /** Adds a strategy. Call it before adding routes that use it. */
  addConstraintStrategy(strategy: Parameters<FastifyInstance['addConstraintStrategy']>[0]): void {
    this.#router.addConstraintStrategy(strategy)
  }

  /** All routes in order of registration. Routes that differ only in their constraints are listed once. */
  routes(): readonly { method: string; url: string }[] {
    return [...this.#listed.values()]
  }

  /** Passes a request's constraint values to the callback, synchronously unless a strategy is asynchronous. */
  deriveConstraints(request: IncomingMessage, done: Derived): void {
    this.#router.constrainer.deriveConstraints(request, undefined, done)
  }

  /** Whether a route matches this method and raw path, for a request with these constraints. */
  has(method: string, path: string, derived?: Constraints): boolean {
    return this.#find(method, path, derived) !== null
  }

  /** The methods that the routes of a raw path declare, in order of registration. */
  methodsOf(path: string, derived?: Constraints): string[] {
    const found: Array<{ method: string; position: number }> = []
    for (const method of this.#methods) {
      const match = this.#find(method, path, derived)
      if (match !== null) found.push({ method, position: match.store.position })
    }
    return found.sort((one, other) => one.position - other.position).map(({ method }) => method)
  }

  #find(method: string, path: string, derived: Constraints | undefined) {
    // The router takes any first character for a slash.
    return path.startsWith('/') ? this.#router.find<Entry>(method, path, derived) : null
  }

  #entryOf(method: string, url: string, constraints: Constraints): Entry | undefined {
    // The router stores "*" as "/*", but does not translate it here.
    return this.#router.findRoute<Entry>(method, url === '*' ? '/*' : url, constraints)?.store
  }
}
