import { html, type Markup } from '../../base/html.ts'
import type { AnyPanel, ViewContext } from '../../collect/panel.ts'
import { renderEmptyState } from './empty-state.ts'
import { panelData } from './panel-menu.ts'

/** What a panel shows of a profile. */
export function renderPanelBody(panel: AnyPanel, context: ViewContext): Markup {
  const data = panelData(panel, context.profile)
  try {
    if (data !== null) return panel.body(data, context)
    return panel.empty?.(context) ?? renderEmptyState('Nothing was recorded for this request.')
  } catch (error) {
    // Panels are application code: an error in one must not break the page.
    return html`<p class="notice error">This panel could not be shown: ${String(error)}</p>`
  }
}
