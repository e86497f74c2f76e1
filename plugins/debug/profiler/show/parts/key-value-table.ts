import { renderEmptyState } from './empty-state.ts'
import { html, Markup, type Content } from '../../base/html.ts'
import { renderValue } from './value.ts'

/** One row: a name, and markup to show as it is or any recorded value to show as a value. */
export type KeyValue = readonly [name: Content, value: unknown]

/** Names beside values; on a narrow screen, names above values. */
export function renderKeyValueTable(caption: string, entries: Iterable<KeyValue>, empty = 'None.'): Markup {
  const rows = [...entries]
  if (rows.length === 0) return renderEmptyState(empty)
  return html`<dl class="pairs" aria-label="${caption}">${rows.map(
    ([name, value]) => html`
<div><dt>${name}</dt><dd>${value instanceof Markup ? value : renderValue(value)}</dd></div>`,
  )}
</dl>`
}
