import type { AnyPanel, ToolbarItem, ViewContext } from '../../collect/panel.ts'
import { toolbarHash } from '../parts/toolbar-policy.ts'
import { assetUrl } from '../parts/assets.ts'
import { html, type Markup } from '../../base/html.ts'
import { panelData } from '../parts/panel-menu.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { statusText, statusTone } from '../parts/tone.ts'

/** An item and the panel it leads to. */
export interface ToolbarEntry extends ToolbarItem {
  panel: string
}

/** What the panels say to the toolbar, in their order; one that fails says nothing. */
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

/** What is wrong stands where it is seen on a narrow screen; the rest keeps the panels' order. */
function worstFirst(one: ToolbarEntry, other: ToolbarEntry): number {
  return Number(isBad(other)) - Number(isBad(one))
}

function isBad({ tone }: ToolbarEntry): boolean {
  return tone === 'error' || tone === 'warning'
}

/**
 * The one tag that puts the toolbar into a page: an external script that carries its data as an attribute and
 * makes a custom element with a shadow tree, so that neither styles nor scripts of the page and it can meet.
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
