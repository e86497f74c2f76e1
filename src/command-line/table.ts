/** Rows of text in columns that are as wide as their widest cell. The first row says how many columns there are. */
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
