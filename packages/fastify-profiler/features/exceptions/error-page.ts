import type { ViewContext } from '../../core/panel.ts'
import type { Profile } from '../../core/profile.ts'
import { blocksHtml, type Fact, renderFacts } from '../../core/view/block.ts'
import { statusText, statusTone, titled } from '../../core/view/elements.ts'
import { html, Markup } from '../../core/view/html.ts'
import { assets, assetUrl, renderDocument, renderTopBar } from '../../core/view/page.ts'
import { renderGaps, renderRequestLine, timeText } from '../home/profile-header.ts'
import { formatDuration } from '../../core/view/units.ts'
import { profileUrl } from '../../core/view/urls.ts'
import { curlCommand } from '../request/curl-command.ts'
import { isRoutingFailure } from '../routing/routing-panel.ts'
import { causeFacts } from './exception-panel.ts'
import { failureSections, renderErrorMarkdown } from './failure-sections.ts'

/**
 * The diagnostic page for a failed request, on the application's own URL. Its stylesheet is inlined, so that the page
 * still looks right when it is saved or previewed elsewhere.
 */
export function renderErrorPage(context: ViewContext): string {
  const { profile, base } = context
  const { exceptions, logs } = profile
  const [thrown] = exceptions
  const message = thrown === undefined ? silentFailure(profile) : thrown.message || thrown.class
  return renderDocument({
    title: `${message.slice(0, 150)} (${statusText(profile.status)})`,
    className: 'error-page',
    // Trusted markup: the text must stay byte for byte what the policy's hash covers.
    style: html`<style>${new Markup(assets['profiler.css'].body)}</style>`,
    script: assetUrl(base, 'profiler.js'),
    body: html`<a class="sr-only" href="#main">Skip to content</a>
${renderTopBar(context, 'exception', false)}
<section class="request ${statusTone(profile.status)}" aria-label="This request">
<div class="asked">${renderRequestLine(profile, null)}
<div class="actions"><button type="button" data-copy="markdown" hidden>Copy as Markdown</button><button type="button" data-copy-text="${curlCommand(profile)}" hidden>Copy as cURL</button><a class="button primary" href="${profileUrl(base, profile.token, 'exception')}">Open profile</a></div></div>
<div class="says">${thrown !== undefined && thrown.message !== '' && html`<span class="muted">${thrown.class}:</span> `}<h1>${message}</h1></div>
${renderFacts(errorFacts(context), context)}
</section>
<main id="main" class="wide" tabindex="-1">
<nav class="jump" aria-label="Sections"><ul class="row">
<li><a href="#exceptions">Exceptions <span class="count">${exceptions.length}</span></a></li>
<li><a href="#logs">Logs <span class="count">${logs.length}</span></a></li>
<li><a href="#stack-traces">Stack Traces <span class="count">${exceptions.length}</span></a></li>
</ul></nav>
${renderGaps(profile)}
${blocksHtml(failureSections(context), context, 2)}
<details class="fold trace"><summary>This page as Markdown</summary><pre tabindex="0"><code id="markdown">${renderErrorMarkdown(context)}</code></pre></details>
<p class="only-narrow"><a class="button" href="${profileUrl(base, profile.token, 'exception')}">Open profile</a></p>
</main>
<footer class="bottom">The profiler shows this page instead of the application’s own, which other clients get.</footer>`,
  })
}

/** What led to the failure, most telling first. */
function errorFacts(context: ViewContext): Fact[] {
  const { profile } = context
  const referer = profile.request.headers.find(([name]) => name.toLowerCase() === 'referer')?.[1]
  return [
    ['Time', formatDuration(profile.duration)],
    ...causeFacts(profile),
    ...(referer === undefined ? [] : [['Linked from', { code: referer }] as const]),
    ...Object.entries(profile.labels).map(([name, value]) => [titled(name), value] as const),
    ['When', timeText(profile.time)],
  ]
}

/** The title of a failure without an exception. */
function silentFailure(profile: Profile): string {
  return isRoutingFailure(profile)
    ? `No route matches ${profile.method} ${profile.path}`
    : 'Error response without an exception'
}
