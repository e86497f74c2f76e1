import { read } from '../base/foreign-value.ts'
import type { MatchedRoute, NearMiss, Routing } from '../base/profile.ts'
import { requestHost } from '../base/request-host.ts'
import { pathOfUrl } from '../base/request-path.ts'
import type { Mask } from '../mask/mask.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { KnownRoutes } from '../watch/known-routes.ts'
import type { Asked, SimilarRoutes } from './similar-routes.ts'

interface RoutingParts {
  routes: KnownRoutes
  similar: SimilarRoutes
}

/** Kept for the profile of a request whose error page has shown them. */
const shown = new WeakMap<object, NearMiss[]>()

/** The route that a request matched, or the routes similar to its path. */
export function describeRouting(exchange: Exchange, { routes, similar }: RoutingParts, mask: Mask): Routing {
  const { request, recorder } = exchange
  const pattern = request === null || request.is404 ? undefined : request.routeOptions.url
  const count = routes.all.length
  if (pattern === undefined || request === null) {
    return { matched: null, nearMisses: nearMissesOf(exchange, similar), routes: count }
  }
  const matched: MatchedRoute = {
    // Defaults for a route that was added before the profiler and is unknown.
    method: [recorder.method],
    url: pattern,
    host: null,
    handler: `${recorder.method} ${pattern}`,
    plugin: null,
    location: null,
    ...routes.find(request.routeOptions.handler),
    params: mask.record(read(request, 'params')),
  }
  return { matched, nearMisses: [], routes: count }
}

function nearMissesOf(exchange: Exchange, similar: SimilarRoutes): NearMiss[] {
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
