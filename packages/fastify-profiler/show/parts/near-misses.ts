import type { ViewContext } from '../../collect/panel.ts'
import type { NearMiss, Profile } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'
import { comparePaths, differenceText, type PathPiece } from './path-difference.ts'
import { count } from './units.ts'

/** Whether no route matched the method and path. */
export function isRoutingFailure({ routing, status }: Pick<Profile, 'routing' | 'status'>): boolean {
  return routing.matched === null && (status === 404 || status === 405)
}

/** What would have to change for the route to match. */
export function nearMissText({ host, method, reason, url, version }: NearMiss, path: string): string {
  switch (reason) {
    case 'method':
      return `Same path, but only for ${method.join(', ')}`
    case 'slash':
      return url.endsWith('/') ? 'Add a slash at the end' : 'Drop the slash at the end'
    case 'host':
      return `Same path, but only on host ${host ?? 'another'}`
    case 'version':
      return `Same path, but only in version ${version ?? 'another'}`
    case 'constraint':
      return 'Same path under another constraint'
    case 'parameter':
      return 'A parameter does not match its pattern'
    case 'case':
      return 'Same path in another case'
    case 'similar':
      return differenceText(comparePaths(path, url))
  }
}

/** The near misses with one entry for each path that is defined in one place, whatever its methods. */
export function nearPaths(misses: readonly NearMiss[]): NearMiss[] {
  const byPath = new Map<string, NearMiss>()
  for (const miss of misses) {
    const { host, location, reason, url, version } = miss
    const key = JSON.stringify([url, host, version, reason, location?.file, location?.line])
    const known = byPath.get(key)
    byPath.set(key, known === undefined ? miss : { ...known, method: [...new Set([...known.method, ...miss.method])] })
  }
  return [...byPath.values()]
}

/** The routes most similar to the request, nearest first. */
export function renderNearMisses(
  { routing, method, path }: Profile,
  context: Pick<ViewContext, 'root' | 'editorUrl'>,
): Markup {
  const misses = nearPaths(routing.nearMisses)
  if (misses.length === 0) {
    return html`<p>No route matches <code>${method} ${path}</code>, and none is similar. The application has ${count(routing.routes, 'route')}.</p>`
  }
  return html`<div class="scroll" role="region" aria-label="Similar routes" tabindex="0"><table class="near">
<caption class="sr-only">Similar routes</caption>
<thead><tr><th scope="col">Method</th><th scope="col">Route</th><th scope="col">To match</th><th scope="col">Defined in</th></tr></thead>
<tbody>${misses.map(
    miss => html`
<tr><td class="short">${miss.method.map(name => renderMethod(name, miss.reason === 'method'))}</td><th scope="row">${renderRoute(miss, path)}</th><td>${nearMissText(miss, path)}</td><td>${renderLocation(miss.location, context)}</td></tr>`,
  )}
</tbody></table></div>
<p class="muted">What differs is marked. The application has ${count(routing.routes, 'route')}.</p>`
}

function renderMethod(name: string, differs: boolean): Markup {
  return html`<span class="badge ${differs ? 'differs' : 'neutral'}">${name}</span> `
}

function renderRoute({ host, reason, url, version }: NearMiss, path: string): Markup {
  const isPath = reason === 'similar' || reason === 'slash' || reason === 'case'
  const pieces: readonly PathPiece[] = isPath ? comparePaths(path, url) : [{ text: url, change: 'same' }]
  return html`<code>${pieces.map(renderPiece)}</code>${host !== null && html` <span class="muted">on ${host}</span>`}${version !== undefined && html` <span class="muted">version ${version}</span>`}`
}

/** A route's path with what the request lacks marked, and what it has in excess struck. */
export function renderPiece({ text, change }: PathPiece): Markup {
  if (change === 'missing') return html`<mark class="differs">${text}</mark>`
  return change === 'excess' ? html`<del>${text}</del>` : html`${text}`
}
