import type { AnyPanel, Badge } from '../../collect/panel.ts'
import type { Json, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { html, type Markup } from '../../base/html.ts'
import { profileUrl } from './profile-url.ts'

/** A panel in the menu; greyed out without data. */
export interface MenuEntry {
  name: string
  label: string
  empty: boolean
  badge: Badge | null
}

/** A panel's data: read from the profile, or collected with it. */
export function panelData(panel: AnyPanel, profile: Profile): unknown {
  return 'read' in panel ? panel.read(profile) : collected(panel.name, profile)
}

function collected(name: string, { panels }: Profile): Json {
  return Object.hasOwn(panels, name) ? (panels[name] ?? null) : null
}

/** The menu's entries. A badge that throws is left out: the panel's body shows the error. */
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

/** The menu of panels. */
export function renderPanelMenu(entries: readonly MenuEntry[], open: string, base: string, token: string): Markup {
  return html`<nav class="menu" aria-label="Panels"><ul>${entries.map(
    ({ name, label, empty, badge }) => html`
<li><a href="${profileUrl(base, token, name)}"${name === open && html` aria-current="page"`}${empty && html` class="empty"`}>${label}${empty && html`<span class="sr-only"> (empty)</span>`}${badge !== null && html` ${renderBadge(badge.text, badge.tone)}`}</a></li>`,
  )}
</ul></nav>`
}
