import type { ViewContext } from '../../core/panel.ts'
import type { Exception, Json, Profile } from '../../core/profile.ts'
import { blocksHtml, type Fact, renderFacts } from '../../core/view/block.ts'
import { statusText, statusTone, titled } from '../../core/view/elements.ts'
import { html, Markup } from '../../core/view/html.ts'
import { assets, assetUrl, errorPagePolicy, preferredForm, renderDocument, renderTopBar } from '../../core/view/page.ts'
import { renderGaps, renderRequestLine, timeText } from '../home/profile-header.ts'
import { formatDuration } from '../../core/view/units.ts'
import { profileUrl } from '../../core/urls.ts'
import { curlCommand } from '../request/sent-request.ts'
import { isRoutingFailure } from '../routing/routing-panel.ts'
import { matchedRoute } from '../routing/similar-routes.ts'
import { causeFacts } from './exception-panel.ts'
import { worstOf } from './exceptions.ts'
import { failureSections, renderErrorMarkdown } from './failure-sections.ts'
import type { ServerResponse } from 'node:http'
import type { Diagnosis } from '../../core/feature.ts'
import { attempt, isRecord, setHeader } from '../../core/foreign-value.ts'
import { isNavigation, untouched } from '../../core/view/debug-answer.ts'
import { resolveFrames, type SourceTexts } from './source-excerpt.ts'
import type { Replace } from '../../core/watch/answer.ts'
import type { Exchange } from '../../core/watch/exchange.ts'

/**
 * The diagnostic page for a failed request, on the application's own URL. Its stylesheet is inlined, so that the page
 * still looks right when it is saved or previewed elsewhere.
 */
export function renderErrorPage(context: ViewContext): string {
  const { profile, base } = context
  const { exceptions, logs } = profile
  const thrown = exceptions[worstOf(profile)]
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

function errorFacts(context: ViewContext): Fact[] {
  const { profile } = context
  const referer = profile.request.headers.find(([name]) => name.toLowerCase() === 'referer')?.[1]
  return [
    ['Time', formatDuration(profile.duration)],
    ...causeFacts(profile),
    ['Linked from', referer === undefined ? null : { code: referer }],
    ...Object.entries(profile.labels).map(([name, value]) => [titled(name), value] as const),
    ['When', timeText(profile.time)],
  ]
}

function silentFailure(profile: Profile): string {
  const { method, path, routing, status } = profile
  if (isRoutingFailure(profile)) return `No route matches ${method} ${path}`
  return status === 404 && routing.matched !== null
    ? `The route ${routing.matched.url} answered ${method} ${path} with 404`
    : 'Error response without an exception'
}

/** Headers that describe the application's body, which the diagnostic page replaces. */
const ofTheOldBody = [
  ...untouched,
  'content-language',
  'content-location',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'accept-ranges',
  'etag',
  'last-modified',
]

export function explainFailure(exchange: Exchange, { exceptions, link, view }: Diagnosis): Replace | null {
  const { raw, recorder, request, response } = exchange
  if (response.statusCode < 400) return null
  const type = String(response.getHeader('content-type') ?? '')
  const isPage = /^text\/html\b/i.test(type)
  // A handler may send an error status on purpose (an invalid form, "no such user"), or a page for what it caught.
  const isUnanswered = recorder.failures.some(({ from }) => from === 'thrown' || (from === 'caught' && !isPage))
  const isAccident = isUnanswered || matchedRoute(exchange) === null || (request?.is404 === true && !isPage)
  const form = preferredForm(raw)
  if (isAccident && form === 'html' && isNavigation(raw)) {
    return () => {
      const page = renderErrorPage(view())
      replaceHeaders(response, 'text/html; charset=utf-8')
      setHeader(response, 'content-security-policy', errorPagePolicy())
      return Buffer.from(page)
    }
  }
  if (isAccident && form === 'markdown') {
    return () => {
      const text = renderErrorMarkdown(view())
      replaceHeaders(response, 'text/markdown; charset=utf-8')
      return Buffer.from(text)
    }
  }
  if (!/^application\/problem\+json\b/i.test(type) || untouched.some(name => response.hasHeader(name))) return null
  return body => withExceptions(body, exceptions(), recorder.token, link())
}

function replaceHeaders(response: ServerResponse, type: string): void {
  for (const name of ofTheOldBody) response.removeHeader(name)
  setHeader(response, 'cache-control', 'no-store')
  setHeader(response, 'x-content-type-options', 'nosniff')
  setHeader(response, 'content-type', type)
}

/** Adds exceptions to a body of type application/problem+json; null if it is no JSON object. */
function withExceptions(body: Buffer, exceptions: readonly Exception[], token: string, link: string): Buffer | null {
  const problem = attempt((): unknown => JSON.parse(body.toString()), null)
  if (!isRecord(problem)) return null
  return Buffer.from(JSON.stringify({ ...problem, token, link, exceptions: exceptionsForPrograms(exceptions) }))
}

/** The exception chain for programs: no source, one line per frame. */
function exceptionsForPrograms(exceptions: readonly Exception[]): Json {
  const files: SourceTexts = new Map()
  return exceptions.map(({ class: name, message, code, relation, frames }) => ({
    class: name,
    message,
    code,
    relation,
    trace: resolveFrames(frames, files).map(
      frame => `${frame.function ?? 'anonymous'} (${frame.file}:${frame.line}:${frame.column})`,
    ),
  }))
}
