import type { AnyPanel, ViewContext } from '../../collect/panel.ts'
import type { Profile } from '../../base/profile.ts'
import { curlCommand } from '../parts/curl-command.ts'
import { renderGaps } from '../parts/gaps.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderPage } from './page.ts'
import { renderPanelBody } from '../parts/panel-body.ts'
import { menuEntries, renderPanelMenu } from '../parts/panel-menu.ts'
import { renderProfileActions, type RelatedProfiles } from '../parts/profile-actions.ts'
import { renderProfileHeader } from '../parts/profile-header.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { renderCost } from '../parts/profiling-cost.ts'
import { renderSightings } from '../parts/sightings.ts'
import { renderTime } from '../parts/time.ts'

const noRelated: RelatedProfiles = { caused: [], previous: null, next: null, previousOfRoute: null, sightings: null }

/** A profile with the panel of the name `open`. */
export function renderProfilePage(
  context: ViewContext,
  panels: readonly AnyPanel[],
  open: string,
  related = noRelated,
): string {
  const { profile, base } = context
  const panel = panels.find(({ name }) => name === open)
  const label = panel?.label ?? open
  return renderPage({
    title: `${label} · ${profile.status ?? 'no response'} ${profile.method} ${profile.url.slice(0, 80)}`,
    base,
    panel: open,
    header: renderProfileHeader(profile, base, {
      actions: renderProfileActions(profile, base, open, related, renderCopy(profile)),
      caused: related.caused,
      seen: related.sightings === null ? null : renderSightings(related.sightings, base),
      when: renderTime(profile.time),
    }),
    menu: renderPanelMenu(menuEntries(panels, profile), name => profileUrl(base, profile.token, name), open),
    main: html`<h2 class="sr-only">${label}</h2>
${renderGaps(profile)}
${panel !== undefined && renderPanelBody(panel, context)}`,
    footer: html`<div class="only-narrow">${renderProfileActions(profile, base, open, related)}</div>
${renderCost(profile)}`,
  })
}

function renderCopy(profile: Profile): Markup {
  return html`<button type="button" data-copy-text="${curlCommand(profile)}" hidden>Copy as cURL</button>`
}
