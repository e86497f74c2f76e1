type Rows = readonly (readonly string[])[]

const gap = '  '
/** Columns that are never left out. */
const fewestColumns = 3
/** The room that a column should have. */
const usualWidth = 12
/** The narrowest that a column is cut to. */
const narrowest = 8

/** Renders rows as columns, each as wide as its widest cell. The first row determines the number of columns. */
export function renderTable(rows: Rows): string {
  const widths = widthsOf(rows)
  return rows
    .map(row => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(gap))
    .map(line => `${line.trimEnd()}\n`)
    .join('')
}

/**
 * Makes a table as narrow as a terminal. The headings decide which of the last columns are left out, so that each page
 * of a list has the same columns. Then the widest columns are cut.
 * @param width in characters
 */
export function fitTable(rows: Rows, width: number): Rows {
  const [headings = []] = rows
  const usual = headings.map(name => Math.max(name.length, usualWidth))
  let count = headings.length
  while (count > fewestColumns && totalOf(usual.slice(0, count)) > width) count--
  const kept = rows.map(row => row.slice(0, count))
  const widths = widthsOf(kept)
  while (totalOf(widths) > width && Math.max(...widths) > narrowest) {
    const widest = widths.indexOf(Math.max(...widths))
    widths[widest] = Math.max(...widths) - 1
  }
  return kept.map(row => row.map((cell, column) => cut(cell, widths[column] ?? 0)))
}

function widthsOf(rows: Rows): number[] {
  const [headings = []] = rows
  return headings.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap.length, -gap.length)
}

/** Cuts a text that is too long. */
export function cut(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell
}
