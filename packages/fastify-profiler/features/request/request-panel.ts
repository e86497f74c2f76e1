import type { BuiltInPanel, ViewContext } from '../../core/panel.ts'
import type { HeaderLine, Json, Profile, RequestRecord, ResponseRecord } from '../../core/profile.ts'
import { sentHost } from '../../core/request-target.ts'
import { highlightJson, renderCodeBlock } from '../../core/view/code-block.ts'
import {
  outcomeText,
  renderDataTable,
  renderKeyValueTable,
  renderSection,
  renderValue,
  statusText,
  valueText,
} from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, table } from '../../core/view/markdown.ts'
import { formatBytes } from '../../core/view/units.ts'
import { profileUrl } from '../../core/view/urls.ts'
import { curlCommand } from './curl-command.ts'

/** A body: JSON indented, a form as pairs, a multipart form with its files, and any other as text. */
function renderBody(request: RequestRecord): Markup {
  const { bodySize, contentType } = request
  const about = [contentType, bodySize === null ? null : formatBytes(bodySize)].filter(part => part !== null)
  return renderSection(
    html`Body${about.length > 0 && html` <small>${about.join(' · ')}</small>`}`,
    renderContent(request),
  )
}

function renderContent({ body, contentType }: RequestRecord): Markup {
  if (typeof body === 'string') return renderCodeBlock(body)
  if (typeof body !== 'object' || body === null) return renderValue(body)
  const entries = Array.isArray(body) ? [] : Object.entries(body)
  if (contentType?.startsWith('multipart/') === true) return renderParts(entries)
  if (contentType?.startsWith('application/x-www-form-urlencoded') === true) return renderKeyValueTable('Body', entries)
  return html`<pre class="json" tabindex="0"><code>${highlightJson(valueText(body, 2))}</code></pre>`
}

/** The parts of a multipart form, with the names, types and sizes of its files. */
function renderParts(entries: ReadonlyArray<readonly [name: string, value: Json]>): Markup {
  return renderDataTable(
    'Body',
    [{ label: 'Part' }, { label: 'File or value' }, { label: 'Type' }, { label: 'Size', kind: 'number' }],
    entries.flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map(part => ({ cells: [html`<code>${name}</code>`, ...cellsOf(part)] })),
    ),
  )
}

function cellsOf(part: Json): readonly [Markup | string, string, string] {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return [renderValue(part), '', '']
  const { filename, mimetype, size, value } = part
  if (filename === undefined) return [renderValue(value ?? part), textOr(mimetype, ''), '']
  return [textOr(filename, 'unnamed'), textOr(mimetype, ''), typeof size === 'number' ? formatBytes(size) : '']
}

function textOr(value: Json | undefined, other: string): string {
  return typeof value === 'string' ? value : other
}

interface Data {
  request: RequestRecord
  response: ResponseRecord
}

type Entries = ReadonlyArray<readonly [name: string, value: Json]>

/** The parts of a request that may be empty, most wanted first. */
function parts({ query, params, cookies }: RequestRecord): ReadonlyArray<readonly [title: string, entries: Entries]> {
  return [
    ['Query', Object.entries(query)],
    ['Route parameters', Object.entries(params)],
    ['Cookies', Object.entries(cookies)],
  ]
}

function absent(request: RequestRecord): string[] {
  const names = parts(request)
    .filter(([, entries]) => entries.length === 0)
    .map(([title]) => title.toLowerCase())
  return request.body === null ? [...names, 'body'] : names
}

function requestFacts(profile: Profile): Array<readonly [string, string]> {
  return [
    ['Host', sentHost(profile) ?? 'none'],
    ['Route', profile.routing.matched?.url ?? 'none'],
    ['IP address', profile.ip ?? 'unknown'],
    ['Protocol', `${profile.protocol}, HTTP/${profile.httpVersion}`],
    ['Request ID', profile.requestId ?? 'none'],
  ]
}

function responseFacts({ outcome, response, status }: Profile): Array<readonly [string, string]> {
  return [
    ['Status', statusText(status)],
    ['Content type', response.contentType ?? 'none'],
    ['Body size', response.streamed ? `${formatBytes(response.bodySize)}, streamed` : formatBytes(response.bodySize)],
    ['Outcome', outcomeText(outcome) ?? 'completed'],
  ]
}

function markdownTable(title: string, entries: Entries): string | null {
  return entries.length === 0
    ? null
    : blocks(
        `### ${title}`,
        table(
          ['Name', 'Value'],
          entries.map(([name, value]) => [code(name), code(valueText(value))]),
        ),
      )
}

function renderTabs(open: 'request' | 'response', { base, profile }: ViewContext): Markup {
  const url = profileUrl(base, profile.token, 'request')
  const current = html` aria-current="page"`
  return html`<nav class="tabs" aria-label="Request and response"><a href="${url}"${open === 'request' && current}>Request</a><a href="${url}&amp;show=response"${open === 'response' && current}>Response</a></nav>`
}

function renderHeaders(title: string, headers: readonly HeaderLine[]): Markup {
  return renderSection(title, renderKeyValueTable(title, headers), headers.length)
}

function renderRequest(request: RequestRecord, profile: Profile): Markup {
  const missing = absent(request)
  return html`${request.body !== null && renderBody(request)}
${parts(request).map(([title, entries]) => entries.length > 0 && renderSection(title, renderKeyValueTable(title, entries), entries.length))}
${renderHeaders('Request headers', request.headers)}
${missing.length > 0 && html`<p class="muted">The request had no ${missing.join(', no ')}.</p>`}
${renderSection('Connection', renderKeyValueTable('Connection', requestFacts(profile)))}
<details class="fold"><summary>As cURL</summary>${renderCodeBlock(curlCommand(profile))}</details>`
}

function renderResponse(response: ResponseRecord, profile: Profile): Markup {
  return html`${renderSection('Response', renderKeyValueTable('Response', responseFacts(profile)))}
${renderHeaders('Response headers', response.headers)}`
}

/** The request and its response. */
export const requestPanel: BuiltInPanel<Data> = {
  name: 'request',
  label: 'Request / Response',
  // The wildcard of the not-found handler is not a route parameter.
  read: ({ request, response, routing }) => ({
    request: routing.matched === null ? { ...request, params: {} } : request,
    response,
  }),
  body({ request, response }, context) {
    if (context.isFile === true) {
      return html`${renderRequest(request, context.profile)}
${renderResponse(response, context.profile)}`
    }
    const open = context.query?.get('show') === 'response' ? 'response' : 'request'
    const { profile } = context
    return html`${renderTabs(open, context)}
${open === 'request' ? renderRequest(request, profile) : renderResponse(response, profile)}`
  },
  markdown: ({ request, response }, { profile }) =>
    blocks(
      ...parts(request).map(([title, entries]) => markdownTable(title, entries)),
      request.body === null ? null : markdownTable('Body', [['body', request.body]]),
      markdownTable('Request headers', request.headers),
      markdownTable('Connection', requestFacts(profile)),
      markdownTable('Response', responseFacts(profile)),
      markdownTable('Response headers', response.headers),
    ),
}
