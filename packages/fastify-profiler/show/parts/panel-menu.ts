import type { AnyPanel, Badge } from '../../collect/panel.ts'
import type { Json, Profile } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'

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

/** The menu of panels. `urlOf`: where a panel is. `open`: the panel that is shown; null if all are. */
export function renderPanelMenu(
  entries: readonly MenuEntry[],
  urlOf: (panel: string) => string,
  open: string | null,
): Markup {
  return html`<nav class="menu" aria-label="Panels"><ul>${entries.map(
    ({ name, label, empty, badge }) => html`
<li><a href="${urlOf(name)}"${name === open && html` aria-current="page"`}${empty && html` class="empty"`}>${label}${empty && html`<span class="sr-only"> (empty)</span>`}${badge !== null && html` <span class="fact ${badge.tone}">${badge.text}</span>`}</a></li>`,
  )}
</ul></nav>`
}
