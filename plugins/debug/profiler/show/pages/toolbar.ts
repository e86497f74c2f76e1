import type { AnyPanel, ToolbarItem, ViewContext } from '../../collect/panel.ts'
import { toolbarHash } from '../parts/toolbar-policy.ts'
import { assetUrl } from '../parts/assets.ts'
import { html, type Markup } from '../../base/html.ts'
import { panelData } from '../parts/panel-menu.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { statusText, statusTone } from '../parts/tone.ts'

/** A toolbar item and the panel it links to. */
export interface ToolbarEntry extends ToolbarItem {
  panel: string
}

/** The toolbar items of all panels, in panel order. A panel that throws has none. */
export function toolbarEntries(context: ViewContext, panels: readonly AnyPanel[]): ToolbarEntry[] {
  return panels.flatMap(panel => {
    const data = panelData(panel, context.profile)
    if (data === null) return []
    try {
      const item = panel.toolbarItem?.(data, context) ?? null
      return item === null ? [] : [{ ...item, panel: panel.name }]
    } catch {
      return []
    }
  })
}

/** Sorts warnings and errors first, so that a narrow screen shows them. */
function worstFirst(one: ToolbarEntry, other: ToolbarEntry): number {
  return Number(isBad(other)) - Number(isBad(one))
}

function isBad({ tone }: ToolbarEntry): boolean {
  return tone === 'error' || tone === 'warning'
}

/**
 * The tag that adds the toolbar to a page: an external script with the toolbar's data in an attribute. It creates a
 * custom element with a shadow tree, which keeps the page's styles and scripts apart from the toolbar's.
 */
export function renderToolbar(context: ViewContext, panels: readonly AnyPanel[]): Markup {
  const { profile, base } = context
  const data = {
    base,
    url: profileUrl(base, profile.token),
    status: { text: statusText(profile.status), tone: statusTone(profile.status) },
    items: toolbarEntries(context, panels)
      .sort(worstFirst)
      .map(({ panel, ...item }) => ({ ...item, url: profileUrl(base, profile.token, panel) })),
  }
  return html`<script src="${assetUrl(base, 'toolbar.js')}" integrity="${toolbarHash}" data-profiler="${JSON.stringify(data)}" defer></script>`
}
