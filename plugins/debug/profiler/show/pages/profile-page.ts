import type { AnyPanel, ViewContext } from '../../collect/panel.ts'
import type { Profile, ProfileSummary } from '../../base/profile.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { renderGaps } from '../parts/gaps.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderPage } from './page.ts'
import { menuEntries, panelData, renderPanelMenu } from '../parts/panel-menu.ts'
import { renderProfileHeader } from '../parts/profile-header.ts'
import { formatDuration } from '../parts/units.ts'

/** A profile with one panel open. `open` is that panel's name; `caused` are the requests that this one injected. */
export function renderProfilePage(
  context: ViewContext,
  panels: readonly AnyPanel[],
  open: string,
  caused: readonly ProfileSummary[] = [],
): string {
  const { profile, base } = context
  const panel = panels.find(({ name }) => name === open)
  const label = panel?.label ?? open
  return renderPage({
    title: `${label} · ${profile.status ?? 'no response'} ${profile.method} ${profile.url.slice(0, 80)}`,
    base,
    panel: open,
    header: renderProfileHeader(profile, base, caused),
    aside: renderPanelMenu(menuEntries(panels, profile), open, base, profile.token),
    main: html`<h2>${label}</h2>
${renderGaps(profile)}
${panel !== undefined && renderPanelBody(panel, context)}`,
    footer: renderCost(profile),
  })
}

function renderPanelBody(panel: AnyPanel, context: ViewContext): Markup {
  const data = panelData(panel, context.profile)
  if (data === null) return renderEmptyState('Nothing was recorded for this request.')
  try {
    return panel.body(data, context)
  } catch (error) {
    // Panels are application code: an error in one must not break the page.
    return html`<p class="notice error">This panel could not be shown: ${String(error)}</p>`
  }
}

function renderCost({ cost: { trace, collect, store } }: Profile): Markup {
  return html`<p>Profiling took ${formatCost(trace + collect)}: ${formatCost(trace)} during the request, ${formatCost(collect)} after the response.${store > 0 && ` Storing the previous profile took ${formatCost(store)}.`}</p>`
}

/** In microseconds below a millisecond, where most costs are. */
function formatCost(microseconds: number): string {
  return microseconds < 1000 ? `${Math.round(microseconds)} µs` : formatDuration(microseconds / 1000)
}
