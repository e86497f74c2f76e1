import type { SetComparison } from '../../compare/compare-sets.ts'
import { setCaveat, setSentence, setSize } from '../parts/set-comparison-text.ts'
import { spreadRows, spreadText } from '../parts/spread-rows.ts'
import { formatTime } from '../parts/units.ts'
import { blocks, code, plain, table } from './markdown.ts'

/** The comparison of a route before a moment and since, as Markdown. */
export function renderSetComparisonMarkdown(comparison: SetComparison): string {
  const { at, before, method, route, since } = comparison
  return (
    blocks(
      `# ${plain(setSentence(comparison))}`,
      `${code(`${method} ${route}`)} before ${formatTime(at)} (${setSize(before)}) and since (${setSize(since)}).`,
      setCaveat(comparison),
      table(
        ['Median (middle half)', 'Before', 'Since'],
        spreadRows(comparison).map(({ name, before, since, format }) => [
          name,
          spreadText(before, format),
          spreadText(since, format),
        ]),
      ),
    ) + '\n'
  )
}
