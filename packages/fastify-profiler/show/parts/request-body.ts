import type { Json, RequestRecord } from '../../base/profile.ts'
import { renderCodeBlock } from './code-block.ts'
import { renderDataTable } from './data-table.ts'
import { html, type Markup } from '../../base/html.ts'
import { highlightJson } from './highlight.ts'
import { renderKeyValueTable } from './key-value-table.ts'
import { renderSection } from './section.ts'
import { formatBytes } from './units.ts'
import { renderValue, valueText } from './value.ts'

/** A body: JSON indented, a form as pairs, a multipart form with its files, and any other as text. */
export function renderBody(request: RequestRecord): Markup {
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
