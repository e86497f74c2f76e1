import type { AnyPanel, Badge } from '../../collect/panel.ts'
import type { Json, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { html, type Markup } from '../../base/html.ts'
import { profileUrl } from './profile-url.ts'

/** A panel as the menu lists it; without data it is greyed. */
export interface MenuEntry {
  name: string
  label: string
  empty: boolean
  badge: Badge | null
}

/** What a panel has of this profile: what it reads from it, or what it collected then. */
export function panelData(panel: AnyPanel, profile: Profile): unknown {
  return 'read' in panel ? panel.read(profile) : collected(panel.name, profile)
}

function collected(name: string, { panels }: Profile): Json {
  return Object.hasOwn(panels, name) ? (panels[name] ?? null) : null
}

/** The panels as the menu lists them; a badge that fails is left out, since a panel's fault is shown in its body. */
export function menuEntries(panels: readonly AnyPanel[], profile: Profile): MenuEntry[] {
  return panels.map(panel => {
    const data = panelData(panel, profile)
    return {
      name: panel.name,
      label: panel.label,
      empty: data === null,
      badge: data === null ? null : badgeOf(panel, data),
    }
  })
}

function badgeOf(panel: AnyPanel, data: unknown): Badge | null {
  try {
    return panel.badge?.(data) ?? null
  } catch {
    return null
  }
}

/** The panels to choose from. */
export function renderPanelMenu(entries: readonly MenuEntry[], open: string, base: string, token: string): Markup {
  return html`<nav class="menu" aria-label="Panels"><ul>${entries.map(
    ({ name, label, empty, badge }) => html`
<li><a href="${profileUrl(base, token, name)}"${name === open && html` aria-current="page"`}${empty && html` class="empty"`}>${label}${empty && html`<span class="sr-only"> (empty)</span>`}${badge !== null && html` ${renderBadge(badge.text, badge.tone)}`}</a></li>`,
  )}
</ul></nav>`
}
