import type { SetComparison, Spread } from '../../compare/compare-sets.ts'
import { formatBytes, formatDuration } from './units.ts'

/** A measure of both sets: its name, its spreads, and how its values are written. */
export interface SpreadRow {
  name: string
  before: Spread
  since: Spread
  format: (value: number) => string
}

/** What is compared of a route. */
export function spreadRows({ before, since }: SetComparison): SpreadRow[] {
  return [
    { name: 'Time', before: before.duration, since: since.duration, format: formatDuration },
    { name: 'Queries', before: before.queries, since: since.queries, format: String },
    { name: 'SQL', before: before.queryTime, since: since.queryTime, format: formatDuration },
    { name: 'Response', before: before.size, since: since.size, format: formatBytes },
  ]
}

/** The median with the middle half of all values: 31.2 ms (30.1 ms to 33.0 ms). */
export function spreadText({ quarter, median, threeQuarters }: Spread, format: SpreadRow['format']): string {
  return quarter === threeQuarters
    ? format(median)
    : `${format(median)} (${format(quarter)} to ${format(threeQuarters)})`
}
