import type { ViewContext } from '../../collect/panel.ts'
import type { NearMiss, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderDataTable } from './data-table.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'
import { count } from './units.ts'

/** Whether nothing answered to this method and path. */
export function isRoutingFailure({ routing, status }: Pick<Profile, 'routing' | 'status'>): boolean {
  return routing.matched === null && (status === 404 || status === 405)
}

const otherReasons: Record<Exclude<NearMiss['reason'], 'method' | 'slash'>, string> = {
  host: 'same path, other host',
  version: 'same path, other version',
  constraint: 'same path, other constraint',
  parameter: 'a parameter was refused',
  case: 'other case',
  similar: 'similar path',
}

/** Why a route is listed, in words. */
export function nearMissText({ reason, url }: NearMiss): string {
  if (reason === 'method') return 'same path, other method'
  if (reason === 'slash') return url.endsWith('/') ? 'with a slash at the end' : 'without the slash at the end'
  return otherReasons[reason]
}

/** What would have matched, nearest first, or that nothing comes near. */
export function renderNearMisses(
  { routing, method, path }: Profile,
  context: Pick<ViewContext, 'root' | 'editorUrl'>,
): Markup {
  const { nearMisses } = routing
  const asked = html`<code>${method} ${path}</code>`
  if (nearMisses.length === 0) {
    return html`<p>The application has ${count(routing.routes, 'route')}; none comes near ${asked}.</p>`
  }
  return html`<p>No route matches ${asked}. The nearest of ${routing.routes}:</p>
${renderDataTable(
  'Nearest routes',
  [{ label: 'Methods', kind: 'short' }, { label: 'Route' }, { label: 'Why' }],
  nearMisses.map(miss => ({
    cells: [
      miss.method.map(name => html`${renderBadge(name, name === method ? 'good' : 'neutral')} `),
      html`<code>${miss.url}</code>${miss.host !== null && html` <span class="muted">on ${miss.host}</span>`}${miss.version !== undefined && html` <span class="muted">version ${miss.version}</span>`} <small>${renderLocation(miss.location, context)}</small>`,
      nearMissText(miss),
    ],
  })),
)}`
}
