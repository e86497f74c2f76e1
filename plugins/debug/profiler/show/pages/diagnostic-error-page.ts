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

// Our own file, not a word of it from a request; as it stands, or its hash would not be that of the policy.
const style = html`<style>${new Markup(assets['error-page.css'].body)}</style>`

/**
 * The diagnostic page for a failed request, on the application's own URL. Its stylesheet stands in the page,
 * permitted by its hash, so that the page is whole when it is saved, previewed or seen from elsewhere.
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
<details class="trace"><summary>All of it as Markdown</summary><pre tabindex="0"><code id="markdown">${renderErrorMarkdown(context)}</code></pre></details>
</main>`,
  })
}

/** What there is to say of a failure that nothing was thrown for. */
function silentFailure(profile: Profile): string {
  return isRoutingFailure(profile)
    ? `No route for ${profile.method} ${profile.path}`
    : 'An error was answered without an exception'
}
