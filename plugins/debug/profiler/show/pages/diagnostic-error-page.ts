import type { ViewContext } from '../../collect/panel.ts'
import type { Profile } from '../../base/profile.ts'
import { assets, assetUrl } from '../parts/assets.ts'
import { renderStatus } from '../parts/badge.ts'
import { renderDocument } from './document.ts'
import { renderErrorMarkdown } from '../markdown/error-markdown.ts'
import { renderExceptionSections } from '../parts/exception-sections.ts'
import { renderClassChain } from '../parts/exceptions.ts'
import { renderGaps } from '../parts/gaps.ts'
import { html, Markup } from '../../base/html.ts'
import { isRoutingFailure } from '../parts/near-misses.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { statusText, statusTone } from '../parts/tone.ts'

// Trusted markup: the text must stay byte for byte what the policy's hash covers.
const style = html`<style>${new Markup(assets['error-page.css'].body)}</style>`

/**
 * The diagnostic page for a failed request, on the application's own URL. Its stylesheet is inlined, so that the page
 * still looks right when it is saved or previewed elsewhere.
 */
export function renderErrorPage(context: ViewContext): string {
  const { profile, base } = context
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
${renderExceptionSections(context, 2)}
<details class="trace"><summary>This page as Markdown</summary><pre tabindex="0"><code id="markdown">${renderErrorMarkdown(context)}</code></pre></details>
</main>`,
  })
}

/** The title of a failure without an exception. */
function silentFailure(profile: Profile): string {
  return isRoutingFailure(profile)
    ? `No route matches ${profile.method} ${profile.path}`
    : 'Error response without an exception'
}
