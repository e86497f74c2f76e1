import type { IncomingMessage } from 'node:http'
import { pathOfUrl } from '../base/request-path.ts'

/** Distinguishes the profiler's own pages from the application's. */
export class OwnPages {
  readonly #base: string
  /** Requests for the profiler's pages under other URLs. */
  readonly #disguised = new WeakSet<IncomingMessage>()

  constructor(base: string) {
    this.#base = base
  }

  /** Whether a URL or route pattern belongs to the profiler's pages. */
  include(url: string): boolean {
    const { length } = this.#base
    return url.startsWith(this.#base) && (url.length === length || url[length] === '/' || url[length] === '?')
  }

  /** Whether a request is for one of the profiler's pages. */
  areAskedFor(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw) || this.include(pathOfUrl(String(raw.url)))
  }

  /** Remembers a request for a profiler page under another URL: routers decode "/%5fprofiler" to "/_profiler". */
  disguise(raw: IncomingMessage): void {
    this.#disguised.add(raw)
  }

  isDisguised(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw)
  }
}
