import type { RouteOverview } from '../../store/overview.ts'
import { formatDuration } from './units.ts'

/** A route got slower if its median grew by this factor and this many milliseconds. */
const slowerBy = 1.5
const slowerFrom = 10
const enoughRequests = 20

/** What is wrong with a route. */
export interface RouteTrouble {
  what: 'fails' | 'repeats' | 'slower'
  claim: string
  /** The newest exception; null if there was none. */
  detail: string | null
}

/** What is wrong with a route lately, in words. */
export function troublesOf(route: RouteOverview): RouteTrouble[] {
  const name = routeName(route)
  const found: RouteTrouble[] = []
  if (route.failed > 0) {
    found.push({ what: 'fails', claim: `${name} fails: ${route.failed} of ${route.count}.`, detail: route.exception })
  }
  if (route.repeating > 0) {
    const claim = `${name} runs one query ${route.repeated} times (N+1), in ${route.repeating} of ${route.count} requests.`
    found.push({ what: 'repeats', claim, detail: null })
  }
  const [before, after] = halves(route)
  if (before > 0 && after >= before * slowerBy && after - before >= slowerFrom && route.count >= enoughRequests) {
    const claim = `${name} got slower: p95 ${formatDuration(before)} → ${formatDuration(after)}.`
    found.push({ what: 'slower', claim, detail: null })
  }
  return found
}

/** The median of the p95 of the slices in each half of the period. */
function halves({ slices }: RouteOverview): [before: number, after: number] {
  const median = (part: RouteOverview['slices']) => {
    const values = part.filter(({ count }) => count > 0).map(({ p95 }) => p95)
    return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
  }
  return [median(slices.slice(0, slices.length / 2)), median(slices.slice(slices.length / 2))]
}

/** The name of a route: "GET /museums/:id". */
export function routeName({ method, route }: Pick<RouteOverview, 'method' | 'route'>): string {
  return route === null ? 'no route' : `${method} ${route}`
}
