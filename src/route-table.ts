import findMyWay from 'find-my-way'

/**
 * Which routes there are, asked only when a request matched none: Fastify's own router does not say which methods a
 * path's routes declare.
 */
export class RouteTable {
  /** A router for each method, in which every route is one of GET and holds its place in the order of registration. */
  readonly #routers = new Map<string, ReturnType<typeof findMyWay>>()
  readonly #routes: { method: string, url: string }[] = []
  /** What comes before the second slash of each route. */
  readonly #beginnings = new Set<string>()
  /** Whether a route begins with a parameter or a wildcard. */
  #isOpen = false

  /** Adds a route of one or more methods. Of routes that differ by their constraints only the first counts. */
  add (methods: string | readonly string[], url: string): void {
    for (const method of [methods].flat()) {
      const router = this.#routers.get(method) ?? findMyWay()
      if (router.hasRoute('GET', url)) continue
      router.on('GET', url, () => {}, this.#routes.length)
      this.#routers.set(method, router)
      this.#routes.push({ method, url })
      this.#beginnings.add(beginningOf(url))
      this.#isOpen ||= /[:*]/.test(beginningOf(url))
    }
  }

  /** All of them, in the order of their registration. */
  routes (): readonly { method: string, url: string }[] {
    return this.#routes
  }

  /** Whether there may be routes at this raw path, or at its other slash form: most missing paths begin as none, and need not be looked for. */
  mayHave (path: string): boolean {
    // What is encoded may be any segment, and a router takes whatever stands in place of the first slash for one.
    return this.#isOpen || this.#beginnings.has(beginningOf(path)) || path.includes('%') || !path.startsWith('/')
  }

  /** Whether a route answers the method at this raw path. */
  has (method: string, path: string): boolean {
    return this.#routers.get(method)?.find('GET', path) != null
  }

  /** The methods that the routes of a raw path declare, in the order of their registration. */
  methodsOf (path: string): string[] {
    const found: Array<{ method: string, position: number }> = []
    for (const [method, router] of this.#routers) {
      const match = router.find('GET', path)
      if (match !== null) found.push({ method, position: match.store })
    }
    return found.sort((one, other) => one.position - other.position).map(({ method }) => method)
  }
}

/** A path without what follows its first segment. */
function beginningOf (path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}
