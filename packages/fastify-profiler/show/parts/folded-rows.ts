import type { WaterfallRow } from './waterfall-rows.ts'
import { count, formatDuration, formatNumber } from './units.ts'

/** What the lines folded below the waterfall are, and how long they took: 9 hooks, 1 query, 2 gaps, … */
export function foldedText(rows: readonly WaterfallRow[], total: number, threshold: number): string {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(nounOf(row), (counts.get(nounOf(row)) ?? 0) + Math.max(1, row.spans.length))
  const words = [...counts].map(([noun, number]) => count(number, noun, noun === 'query' ? 'queries' : `${noun}s`))
  return `${words.join(', ')}, each under ${formatNumber(threshold)} ms, ${formatDuration(total)} together`
}

function nounOf({ spans: [span] }: WaterfallRow): string {
  if (span === undefined) return 'gap'
  if (span.kind === 'other') return 'other call'
  if (span.kind === 'cache') return 'cache call'
  return span.kind.replaceAll('-', ' ')
}
