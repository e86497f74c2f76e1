import type { FastifyInstance } from 'fastify'
import type { AnyPanel, ViewContext } from '../../core/panel.ts'
import { visible } from '../../core/foreign-value.ts'
import { packageVersion } from '../../core/package-version.ts'
import { statusText } from '../../core/view/elements.ts'
import { html, Markup } from '../../core/view/html.ts'
import type { PageSources, ProfileAction } from '../../core/feature.ts'
import { assets, filePolicy, renderDocument } from '../../core/view/page.ts'
import { renderCost, renderGaps, renderProfileHeader } from '../home/profile-header.ts'
import { menuEntries, panelData, panelsByWeight, renderPanelBody, renderPanelMenu } from '../home/profile-page.ts'
import { formatTime } from '../../core/view/units.ts'
import { urlPart } from '../../core/view/urls.ts'
import { sendUnknown } from '../home/not-found-page.ts'
import { curlCommand } from '../request/curl-command.ts'
import { harOf } from './har.ts'

const downloads = [
  ['file', 'HTML file'],
  ['har', 'HAR'],
  ['curl', 'cURL'],
] as const

/** Copies the request as a command, and downloads the profile in each form. */
export const exportAction: ProfileAction = (profile, base) =>
  html`<button type="button" data-copy-text="${curlCommand(profile)}" hidden>Copy as cURL</button><details class="export"><summary class="button">Export…</summary><ul>${downloads.map(
    ([name, label]) => html`
<li><a href="${base}/${urlPart(profile.token)}/${name}">${label}</a></li>`,
  )}
</ul></details>`

/** A profile as one document that needs no server: every panel with data, the most telling first. */
export function renderProfileFile({ profile, ...views }: ViewContext, panels: readonly AnyPanel[]): string {
  const context = { ...views, profile, editorUrl: null, explains: false, isFile: true }
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

/** A profile in forms that others can use without the profiler. */
export function exportRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, panels, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token/curl`, async function sendCurl(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    // It may be printed in a terminal.
    return reply.type('text/plain; charset=utf-8').send(`${visible(curlCommand(profile))}\n`)
  })

  app.get<{ Params: { token: string } }>(`${base}/:token/har`, async function sendHar(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    return reply
      .header('content-disposition', `attachment; filename="profile-${profile.token}.har"`)
      .type('application/json; charset=utf-8')
      .send(`${JSON.stringify(harOf(profile), null, 2)}\n`)
  })

  app.get<{ Params: { token: string } }>(`${base}/:token/file`, async function sendFile(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    return reply
      .header('content-disposition', `attachment; filename="profile-${profile.token}.html"`)
      .type('text/html; charset=utf-8')
      .send(renderProfileFile(viewContext(profile), panels))
  })
}
