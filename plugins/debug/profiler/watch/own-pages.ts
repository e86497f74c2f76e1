import type { IncomingMessage } from 'node:http'
import { pathOfUrl } from '../base/request-path.ts'

/** Tells the profiler's own pages from the application's. */
export class OwnPages {
  readonly #base: string
  /** Requests for own pages that their URLs do not give away. */
  readonly #disguised = new WeakSet<IncomingMessage>()

  constructor(base: string) {
    this.#base = base
  }

  /** Whether a URL or a route's pattern is that of an own page. */
  include(url: string): boolean {
    const { length } = this.#base
    return url.startsWith(this.#base) && (url.length === length || url[length] === '/' || url[length] === '?')
  }

  /** Whether a request is for an own page. */
  areAskedFor(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw) || this.include(pathOfUrl(String(raw.url)))
  }

  /** Remembers a request that turned out to be for an own page: routers read "/%5fprofiler" as "/_profiler". */
  disguise(raw: IncomingMessage): void {
    this.#disguised.add(raw)
  }

  isDisguised(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw)
  }
}
