import { renderEmptyState } from './empty-state.ts'
import { html, type Content, type Markup } from '../../base/html.ts'

/** A column's heading, and how its cells are laid out: numbers are aligned right and never wrap. */
export interface Column {
  label: string
  kind?: 'number' | 'text' | 'short'
}

/** One row's cells, in column order, and a class to style it by. */
export interface Row {
  cells: readonly Content[]
  className?: string
}

/** A table that scrolls sideways on a narrow screen. */
export function renderDataTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly Row[],
  empty = 'None.',
): Markup {
  if (rows.length === 0) return renderEmptyState(empty)
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption class="sr-only">${caption}</caption>
<thead><tr>${columns.map(column => html`<th scope="col"${column.kind === 'number' && html` class="number"`}>${column.label}</th>`)}</tr></thead>
<tbody>${rows.map(
    row => html`
<tr${row.className !== undefined && html` class="${row.className}"`}>${row.cells.map((cell, index) => html`<td class="${columns[index]?.kind ?? 'text'}">${cell}</td>`)}</tr>`,
  )}
</tbody></table></div>`
}
