import type { ViewContext } from '../../collect/panel.ts'
import type { NearMiss, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderDataTable } from './data-table.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'
import { count } from './units.ts'

/** Whether no route matched the method and path. */
export function isRoutingFailure({ routing, status }: Pick<Profile, 'routing' | 'status'>): boolean {
  return routing.matched === null && (status === 404 || status === 405)
}

const otherReasons: Record<Exclude<NearMiss['reason'], 'method' | 'slash'>, string> = {
  host: 'same path, different host',
  version: 'same path, different version',
  constraint: 'same path, different constraint',
  parameter: 'a parameter does not match',
  case: 'different letter case',
  similar: 'similar path',
}

/** How the route differs from the request. */
export function nearMissText({ reason, url }: NearMiss): string {
  if (reason === 'method') return 'same path, different method'
  if (reason === 'slash') return url.endsWith('/') ? 'with a trailing slash' : 'without the trailing slash'
  return otherReasons[reason]
}

/** The routes most similar to the request, nearest first. */
export function renderNearMisses(
  { routing, method, path }: Profile,
  context: Pick<ViewContext, 'root' | 'editorUrl'>,
): Markup {
  const { nearMisses } = routing
  const asked = html`<code>${method} ${path}</code>`
  if (nearMisses.length === 0) {
    return html`<p>No route matches ${asked}, and none is similar. The application has ${count(routing.routes, 'route')}.</p>`
  }
  return html`<p>No route matches ${asked}. Nearest of ${count(routing.routes, 'route')}:</p>
${renderDataTable(
  'Similar routes',
  [{ label: 'Methods', kind: 'short' }, { label: 'Route' }, { label: 'Difference' }],
  nearMisses.map(miss => ({
    cells: [
      miss.method.map(name => html`${renderBadge(name, name === method ? 'good' : 'neutral')} `),
      html`<code>${miss.url}</code>${miss.host !== null && html` <span class="muted">on ${miss.host}</span>`}${miss.version !== undefined && html` <span class="muted">version ${miss.version}</span>`} <small>${renderLocation(miss.location, context)}</small>`,
      nearMissText(miss),
    ],
  })),
)}`
}
