import type { FastifyInstance } from 'fastify'
import type { AnyPanel, ViewContext } from '../../core/panel.ts'
import { visible } from '../../core/foreign-value.ts'
import { packageVersion } from '../../core/package-version.ts'
import { statusText } from '../../core/view/elements.ts'
import { html, Markup } from '../../core/view/html.ts'
import type { PageSources, ProfileAction } from '../../core/feature.ts'
import type { Profile } from '../../core/profile.ts'
import { assets, filePolicy, renderDocument } from '../../core/view/page.ts'
import { renderCost, renderGaps, renderProfileHeader } from '../home/profile-header.ts'
import { panelData, panelsByWeight, renderPanelBody, renderPanelMenu } from '../home/profile-page.ts'
import { formatTime } from '../../core/view/units.ts'
import { urlPart } from '../../core/urls.ts'
import { sendUnknown } from '../home/not-found-page.ts'
import { curlCommand } from '../request/sent-request.ts'
import { harOf } from './har.ts'

/** The forms of a profile. One with an ending is saved as a file. */
const downloads = [
  { name: 'file', label: 'HTML file', type: 'text/html', ending: 'html' },
  { name: 'har', label: 'HAR', type: 'application/json', ending: 'har' },
  { name: 'curl', label: 'cURL', type: 'text/plain', ending: null },
] as const

export const exportAction: ProfileAction = (profile, base) =>
  html`<button type="button" data-copy-text="${curlCommand(profile)}" hidden>Copy as cURL</button><details class="export"><summary class="button">Export…</summary><ul>${downloads.map(
    ({ name, label }) => html`
<li><a href="${base}/${urlPart(profile.token)}/${name}">${label}</a></li>`,
  )}
</ul></details>`

/** A profile as one document that needs no server: every panel with data, the most telling first. */
export function renderProfileFile({ profile, ...views }: ViewContext, panels: readonly AnyPanel[]): string {
  const context = { ...views, profile, editorUrl: null, explains: () => false, isFile: true }
  const hasData = (panel: AnyPanel) => panelData(panel, profile) !== null
  const filled = panelsByWeight(panels, profile).filter(hasData)
  const empty = panels.filter(panel => !hasData(panel)).map(({ label }) => label)
  return renderDocument({
    title: `${statusText(profile.status)}: ${profile.method} ${profile.url.slice(0, 80)} · Profile ${profile.token}`,
    className: 'profiler file',
    // Trusted markup: the text must stay byte for byte what the policy's hash covers.
    style: html`<meta http-equiv="Content-Security-Policy" content="${filePolicy()}">
<style>${new Markup(assets['profiler.css'].body)}</style>`,
    body: withoutServer(html`<a class="sr-only" href="#main">Skip to content</a>
<header class="top"><span class="brand">Profile</span><span class="muted">saved by fastify-profiler ${packageVersion}</span></header>
${renderProfileHeader(context, { actions: null, caused: [], seen: null, when: formatTime(profile.time) })}
<div class="layout">${renderPanelMenu(filled, profile, name => `#panel-${name}`, null)}<main id="main" tabindex="-1">
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

export function exportRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, panels, viewContext } = sources
  const textOf = {
    file: (profile: Profile) => renderProfileFile(viewContext(profile), panels),
    har: (profile: Profile) => `${JSON.stringify(harOf(profile), null, 2)}\n`,
    // It may be printed in a terminal.
    curl: (profile: Profile) => `${visible(curlCommand(profile))}\n`,
  }
  for (const { name, type, ending } of downloads) {
    app.get<{ Params: { token: string } }>(`${base}/:token/${name}`, async function sendProfile(request, reply) {
      const profile = await archive.find(request.params.token)
      if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
      const file = `attachment; filename="profile-${profile.token}.${ending}"`
      if (ending !== null) reply.header('content-disposition', file)
      return reply.type(`${type}; charset=utf-8`).send(textOf[name](profile))
    })
  }
}
