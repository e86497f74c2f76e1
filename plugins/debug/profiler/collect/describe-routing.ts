import { read } from '../base/foreign-value.ts'
import type { MatchedRoute, Routing } from '../base/profile.ts'
import { requestHost } from '../base/request-host.ts'
import { pathOfUrl } from '../base/request-path.ts'
import type { Mask } from '../mask/mask.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { Asked, KnownRoutes } from '../watch/known-routes.ts'

/** The route that a request matched, or the routes similar to its path. */
export function describeRouting(exchange: Exchange, routes: KnownRoutes, mask: Mask): Routing {
  const { request, recorder } = exchange
  const pattern = request === null || request.is404 ? undefined : request.routeOptions.url
  const count = routes.routes.length
  if (pattern === undefined || request === null) {
    return { matched: null, nearMisses: routes.nearMisses(askedOf(exchange)), routes: count }
  }
  const matched: MatchedRoute = {
    // Defaults for a route that was added before the profiler and is unknown.
    method: [recorder.method],
    url: pattern,
    host: null,
    handler: 'anonymous',
    plugin: null,
    location: null,
    ...routes.find(request.routeOptions.config),
    params: mask.record(read(request, 'params')),
  }
  return { matched, nearMisses: [], routes: count }
}

function askedOf({ raw, recorder: { method, url } }: Exchange): Asked {
  return {
    method,
    path: pathOfUrl(url),
    host: requestHost(raw) ?? '',
    version: String(raw.headers['accept-version'] ?? ''),
  }
}
