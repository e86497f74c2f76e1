import type { AnyPanel, ToolbarItem, ViewContext } from '../../collect/panel.ts'
import { toolbarHash } from '../parts/toolbar-policy.ts'
import { boundedCard } from '../cards/bounded-card.ts'
import { heapItem } from '../cards/heap-item.ts'
import { requestCard } from '../cards/request-card.ts'
import { assetUrl } from '../parts/assets.ts'
import { html, type Markup } from '../../base/html.ts'
import { visible } from '../../base/visible.ts'
import { panelData } from '../parts/panel-menu.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { serverTrack } from '../parts/server-track.ts'
import { statusText, statusTone } from '../parts/tone.ts'

/** A toolbar item and the panel it links to. */
export interface ToolbarEntry extends ToolbarItem {
  panel: string
}

/** The toolbar items of all panels, in panel order, and the heap. A panel that throws has none. */
export function toolbarEntries(context: ViewContext, panels: readonly AnyPanel[]): ToolbarEntry[] {
  const entries = panels.flatMap(panel => {
    const data = panelData(panel, context.profile)
    if (data === null) return []
    try {
      const item = panel.toolbarItem?.(data, context) ?? null
      return item === null ? [] : [entryOf(item, panel.name)]
    } catch {
      return []
    }
  })
  return [...entries, entryOf(heapItem(context.profile.memory), 'performance')]
}

function entryOf({ card, ...item }: ToolbarItem, panel: string): ToolbarEntry {
  return { ...item, panel, ...(card !== undefined && { card: boundedCard(card) }) }
}

/** Sorts warnings and errors first, so that a narrow screen shows them. */
function worstFirst(one: ToolbarEntry, other: ToolbarEntry): number {
  return Number(isBad(other)) - Number(isBad(one))
}

function isBad({ tone }: ToolbarEntry): boolean {
  return tone === 'error' || tone === 'warning'
}

/** JSON that reads the same in every encoding, since the page may have another than UTF-8. */
function asciiJson(value: unknown): string {
  return visible(JSON.stringify(value)).replace(
    /[^ -~]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * The tag that adds the toolbar to a page: an external script with the toolbar's data in an attribute. It creates a
 * custom element with a shadow tree, which keeps the page's styles and scripts apart from the toolbar's. It is not
 * deferred, so that it hears the errors of scripts that are.
 * @param mayReport whether the page's policy lets the toolbar report the page's errors
 */
export function renderToolbar(context: ViewContext, panels: readonly AnyPanel[], mayReport: boolean): Markup {
  const { profile, base, root } = context
  const url = profileUrl(base, profile.token)
  const data = {
    base,
    url,
    status: {
      text: statusText(profile.status),
      tone: statusTone(profile.status),
      card: boundedCard(requestCard(profile, root)),
    },
    items: toolbarEntries(context, panels)
      .sort(worstFirst)
      .map(({ panel, ...item }) => ({ ...item, url: profileUrl(base, profile.token, panel) })),
    logs: profileUrl(base, profile.token, 'logs'),
    report: mayReport ? `${url}/browser` : null,
    track: serverTrack(profile),
  }
  return html`<script src="${assetUrl(base, 'toolbar.js')}" integrity="${toolbarHash}" data-profiler="${asciiJson(data)}"></script>`
}
