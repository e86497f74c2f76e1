import type { BuiltInPanel } from '../../collect/panel.ts'
import type { Json, Profile, RequestRecord, ResponseRecord } from '../../base/profile.ts'
import { renderCodeBlock } from '../parts/code-block.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderKeyValueTable } from '../parts/key-value-table.ts'
import { blocks, code, table } from '../markdown/markdown.ts'
import { renderSection } from '../parts/section.ts'
import { outcomeText, statusText } from '../parts/tone.ts'
import { formatBytes } from '../parts/units.ts'
import { renderValue, valueText } from '../parts/value.ts'

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

function renderBody({ body, contentType, bodySize }: RequestRecord): Markup {
  const about = [contentType, bodySize === null ? null : formatBytes(bodySize)]
    .filter(part => part !== null)
    .join(' · ')
  const entries = body !== null && typeof body === 'object' && !Array.isArray(body) ? Object.entries(body) : []
  return renderSection(
    'Body',
    html`${about !== '' && html`<p class="muted">${about}</p>`}
${entries.length > 0 ? renderKeyValueTable('Body', entries) : typeof body === 'string' ? renderCodeBlock(body) : renderValue(body)}`,
  )
}

function facts(profile: Profile): Array<readonly [string, string]> {
  const { response } = profile
  return [
    ['Status', statusText(profile.status)],
    ['Content type', response.contentType ?? 'none'],
    ['Body size', response.streamed ? `${formatBytes(response.bodySize)}, streamed` : formatBytes(response.bodySize)],
    ['Outcome', outcomeText(profile.outcome) ?? 'completed'],
    ['Protocol', `${profile.protocol}, HTTP/${profile.httpVersion}`],
    ['Request ID', profile.requestId ?? 'none'],
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

/** The request and its response. */
export const requestPanel: BuiltInPanel<Data> = {
  name: 'request',
  label: 'Request / Response',
  // The wildcard of the not-found handler is not a route parameter.
  read: ({ request, response, routing }) => ({
    request: routing.matched === null ? { ...request, params: {} } : request,
    response,
  }),
  body: ({ request, response }, { profile }) => {
    const missing = absent(request)
    return html`${parts(request).map(([title, entries]) => entries.length > 0 && renderSection(title, renderKeyValueTable(title, entries), entries.length))}
${request.body !== null && renderBody(request)}
${renderSection('Request headers', renderKeyValueTable('Request headers', request.headers), request.headers.length)}
${missing.length > 0 && html`<p class="muted">The request had no ${missing.join(', no ')}.</p>`}
${renderSection('Response', renderKeyValueTable('Response', facts(profile)))}
${renderSection('Response headers', renderKeyValueTable('Response headers', response.headers), response.headers.length)}`
  },
  markdown: ({ request, response }, { profile }) =>
    blocks(
      ...parts(request).map(([title, entries]) => markdownTable(title, entries)),
      request.body === null ? null : markdownTable('Body', [['body', request.body]]),
      markdownTable('Request headers', request.headers),
      markdownTable('Response', facts(profile)),
      markdownTable('Response headers', response.headers),
    ),
}
