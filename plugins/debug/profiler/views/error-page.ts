import type { ViewContext } from '../panel.ts'
import type { Profile } from '../profile.ts'
import { assets, assetUrl } from './assets.ts'
import { renderStatus } from './badge.ts'
import { renderDocument } from './document.ts'
import { renderEmptyState } from './empty-state.ts'
import { renderErrorMarkdown } from './error-markdown.ts'
import { renderClassChain, renderExceptions } from './exceptions.ts'
import { renderGaps } from './gaps.ts'
import { html, Markup } from './html.ts'
import { renderLogTable } from './log-table.ts'
import { isRoutingFailure, renderNearMisses } from './near-misses.ts'
import { profileUrl } from './profile-url.ts'
import { renderStackTraces } from './stack-trace.ts'
import { statusText, statusTone } from './tone.ts'

// Our own file, not a word of it from a request; as it stands, or its hash would not be that of the policy.
const style = html`<style>${new Markup(assets['error-page.css'].body)}</style>`

/**
 * The diagnostic page for a failed request, on the application's own URL. Its stylesheet stands in the page,
 * permitted by its hash, so that the page is whole when it is saved, previewed or seen from elsewhere.
 */
export function renderErrorPage (context: ViewContext): string {
  const { profile, base, root } = context
  const { exceptions, logs } = profile
  const thrown = exceptions[0]
  const message = thrown === undefined ? silentFailure(profile) : thrown.message || thrown.class
  return renderDocument({
    title: `${message.slice(0, 150)} (${statusText(profile.status)})`,
    className: 'error-page',
    style,
    script: assetUrl(base, 'profiler.js'),
    body: html`<a class="skip" href="#main">Skip to content</a>
<header class="summary ${statusTone(profile.status)}">
<div class="glance">${renderStatus(profile.status)}${renderClassChain(exceptions)}</div>
<h1>${message}</h1>
<p class="request"><code><span class="method">${profile.method}</span> ${profile.url}</code></p>
<nav class="sections" aria-label="Sections"><ul>
<li><a href="#exceptions">Exceptions <span class="count">${exceptions.length}</span></a></li>
<li><a href="#logs">Logs <span class="count">${logs.length}</span></a></li>
<li><a href="#stack-traces">Stack Traces <span class="count">${exceptions.length}</span></a></li>
<li class="actions"><button type="button" data-copy="markdown" hidden>Copy as Markdown</button> <a href="${profileUrl(base, profile.token, 'exception')}">Open profile</a></li>
</ul></nav>
</header>
<main id="main" tabindex="-1">
${renderGaps(profile)}
${isRoutingFailure(profile) && html`<section aria-labelledby="matches"><h2 id="matches">What would have matched</h2>
${renderNearMisses(profile, context)}</section>`}
<section id="exceptions" aria-labelledby="exceptions-title"><h2 id="exceptions-title">Exceptions <span class="count">${exceptions.length}</span></h2>
${thrown === undefined ? renderEmptyState('Nothing was thrown: the answer was given without an exception.') : renderExceptions(profile, context)}</section>
<section id="logs" aria-labelledby="logs-title"><h2 id="logs-title">Logs <span class="count">${logs.length}</span></h2>
${renderLogTable(logs)}</section>
<section id="stack-traces" aria-labelledby="traces-title"><h2 id="traces-title">Stack Traces <span class="count">${exceptions.length}</span></h2>
${renderStackTraces(exceptions, root)}
<details class="trace"><summary>All of it as Markdown</summary><pre tabindex="0"><code id="markdown">${renderErrorMarkdown(context)}</code></pre></details></section>
</main>`
  })
}

/** What there is to say of a failure that nothing was thrown for. */
function silentFailure (profile: Profile): string {
  return isRoutingFailure(profile) ? `No route for ${profile.method} ${profile.path}` : 'An error was answered without an exception'
}
