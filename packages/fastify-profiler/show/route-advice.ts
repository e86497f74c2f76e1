import type { Profile } from '../base/profile.ts'
import { wastefulCalls } from '../collect/findings.ts'
import { findingText } from './parts/findings.ts'
import { locationText } from './parts/location.ts'

/** Routes that are remembered. With more, none is told about again. */
const routesMost = 1000

/** Tells about the wasteful calls of each route, once in a process. */
export class RouteAdvice {
  readonly #tell: (sentence: string) => void
  readonly #root: string
  readonly #told = new Set<string>()

  constructor(tell: (sentence: string) => void, root: string) {
    this.#tell = tell
    this.#root = root
  }

  /** Tells the worst finding of a request, unless its route has been told about. */
  consider(profile: Profile): void {
    const { duration, method, routing, token } = profile
    const route = `${method} ${routing.matched?.url ?? ''}`
    if (routing.matched === null || this.#told.has(route) || this.#told.size >= routesMost) return
    const [worst] = wastefulCalls(profile)
    if (worst === undefined) return
    this.#told.add(route)
    const [claim] = findingText(worst, duration)
    const place = worst.location === null ? '' : ` ${locationText(worst.location, this.#root)}`
    this.#tell(`${route}: ${claim}${place} (profile ${token})`)
  }
}
