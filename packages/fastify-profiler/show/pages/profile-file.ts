import { html, Markup } from '../../base/html.ts'
import { packageVersion } from '../../base/package-version.ts'
import type { AnyPanel, ViewContext } from '../../collect/panel.ts'
import { assets } from '../parts/assets.ts'
import { filePolicy } from '../parts/content-security-policy.ts'
import { renderGaps } from '../parts/gaps.ts'
import { renderPanelBody } from '../parts/panel-body.ts'
import { menuEntries, panelData, renderPanelMenu } from '../parts/panel-menu.ts'
import { renderProfileHeader } from '../parts/profile-header.ts'
import { renderCost } from '../parts/profiling-cost.ts'
import { statusText } from '../parts/tone.ts'
import { formatTime } from '../parts/units.ts'
import { renderDocument } from './document.ts'

// Trusted markup: the text must stay byte for byte what the policy's hash covers.
const style = html`<meta http-equiv="Content-Security-Policy" content="${filePolicy}">
<style>${new Markup(assets['profiler.css'].body)}</style>`

/** A profile as one document that needs no server: every panel with data, one below the other. */
export function renderProfileFile({ profile, ...views }: ViewContext, panels: readonly AnyPanel[]): string {
  const context = { ...views, profile, editorUrl: null, explains: false, isFile: true }
  const hasData = (panel: AnyPanel) => panelData(panel, profile) !== null
  const filled = panels.filter(hasData)
  const empty = panels.filter(panel => !hasData(panel)).map(({ label }) => label)
  const when = html`<time>${formatTime(profile.time)}</time>`
  return renderDocument({
    title: `${statusText(profile.status)}: ${profile.method} ${profile.url.slice(0, 80)} · Profile ${profile.token}`,
    className: 'profiler file',
    style,
    body: withoutServer(html`<a class="skip" href="#main">Skip to content</a>
<header class="top"><span class="brand">Profile</span><span class="muted">saved by fastify-profiler ${packageVersion}</span></header>
${renderProfileHeader(profile, views.base, { actions: null, caused: [], seen: null, when })}
<div class="layout">${renderPanelMenu(menuEntries(filled, profile), name => `#panel-${name}`, null)}<main id="main" tabindex="-1">
${renderGaps(profile)}${filled.map(
      panel => html`
<section class="panel" id="panel-${panel.name}" aria-labelledby="panel-${panel.name}-title"><h2 id="panel-${panel.name}-title">${panel.label}</h2>
${renderPanelBody(panel, context)}</section>`,
    )}
${empty.length > 0 && html`<p class="muted">Nothing was recorded for: ${empty.join(', ')}.</p>`}
</main></div>
<footer class="bottom">${renderCost(profile)}</footer>`),
  })
}

/** Removes forms and buttons, and turns links that lead to the server into their text. Panels may have some. */
function withoutServer(markup: Markup): Markup {
  return new Markup(
    markup
      .toString()
      .replace(/<(form|button)\b.*?<\/\1>/gs, '')
      .replace(/<a\b(?![^>]* href="#)[^>]*>(.*?)<\/a>/gs, '<span>$1</span>'),
  )
}
