import type { ToolbarCard } from '../../collect/panel.ts'

const rowsShown = 5
const warningsShown = 3
const longestText = 160

/** A card that is small enough for an attribute of the page. The texts may be an application's own. */
export function boundedCard({ title, note, warnings = [], rows = [], foot }: ToolbarCard): ToolbarCard {
  const left = rows.length - rowsShown
  return {
    title: cut(title),
    ...(note !== undefined && { note: cut(note) }),
    warnings: warnings.slice(0, warningsShown).map(cut),
    rows: rows.slice(0, rowsShown).map(([mark, text, figure]) => [cut(mark), cut(text), cut(figure)]),
    ...(foot === undefined ? left > 0 && { foot: `${left} more` } : { foot: cut(foot) }),
  }
}

/** One line, which is cut again where it does not fit. */
function cut(text: string): string {
  const line = String(text).replaceAll(/\s+/g, ' ')
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line
}
