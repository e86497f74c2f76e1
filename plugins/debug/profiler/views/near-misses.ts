import type { ViewContext } from '../panel.ts'
import type { NearMiss, Profile } from '../profile.ts'
import { renderBadge } from './badge.ts'
import { renderDataTable } from './data-table.ts'
import { html, type Markup } from './html.ts'
import { renderLocation } from './location.ts'
import { count } from './units.ts'

/** Whether nothing answered to this method and path. */
export function isRoutingFailure ({ routing, status }: Profile): boolean {
  return routing.matched === null && (status === 404 || status === 405)
}

/** Why a route is listed, in words. */
export function nearMissText ({ reason, url }: NearMiss): string {
  if (reason === 'method') return 'same path, other method'
  if (reason === 'slash') return url.endsWith('/') ? 'with a slash at the end' : 'without the slash at the end'
  return 'similar path'
}

/** What would have matched, nearest first, or that nothing comes near. */
export function renderNearMisses ({ routing, method, path }: Profile, context: Pick<ViewContext, 'root' | 'editorUrl'>): Markup {
  const { nearMisses } = routing
  return html`<p>None of ${count(routing.routes, 'route')} matches <code>${method} ${path}</code>${nearMisses.length === 0 ? ', and none comes near it.' : '. The nearest:'}</p>
${nearMisses.length > 0 && renderDataTable('Nearest routes', [
    { label: 'Methods', kind: 'short' },
    { label: 'Route' },
    { label: 'Why' }
  ], nearMisses.map(miss => ({
    cells: [
      miss.method.map(name => html`${renderBadge(name, name === method ? 'good' : 'neutral')} `),
      html`<code>${miss.url}</code>${miss.host !== null && html` <span class="muted">on ${miss.host}</span>`} <small>${renderLocation(miss.location, context)}</small>`,
      nearMissText(miss)
    ]
  })))}`
}
