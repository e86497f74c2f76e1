/** Renders rows as columns, each as wide as its widest cell. The first row determines the number of columns. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = rows
    .slice(0, 1)
    .flat()
    .map((_, column) => Math.max(...rows.map(row => String(row[column]).length)))
  return rows
    .map(
      row =>
        `${widths
          .map((width, column) => String(row[column]).padEnd(width))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
