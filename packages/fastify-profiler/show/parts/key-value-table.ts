import { renderEmptyState } from './empty-state.ts'
import { html, Markup, type Content } from '../../base/html.ts'
import { renderValue } from './value.ts'

/** One row: a name with markup, which is shown as it is, or with any recorded value. */
export type KeyValue = readonly [name: Content, value: unknown]

/** A table of names and values. On a narrow screen the names are above the values. */
export function renderKeyValueTable(caption: string, entries: Iterable<KeyValue>, empty = 'None.'): Markup {
  const rows = [...entries]
  if (rows.length === 0) return renderEmptyState(empty)
  return html`<dl class="pairs" aria-label="${caption}">${rows.map(
    ([name, value]) => html`
<div><dt>${name}</dt><dd>${value instanceof Markup ? value : renderValue(value)}</dd></div>`,
  )}
</dl>`
}
