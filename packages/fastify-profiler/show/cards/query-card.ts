import type { DatabaseUse } from '../../base/profile.ts'
import type { ToolbarCard, ViewContext } from '../../collect/panel.ts'
import { locationText } from '../parts/location.ts'
import { groupQueries } from '../parts/query-groups.ts'
import { count as counted, formatDuration, formatNumber, formatShare } from '../parts/units.ts'

/** The statements that took most time, and those that were repeated. */
export function queryCard(data: DatabaseUse, { profile, root }: ViewContext): ToolbarCard {
  const { count, duration, queries, repetitions, waited } = data
  return {
    title: `${counted(count, 'query', 'queries')}, ${formatDuration(duration)}`,
    note: `${formatShare(duration, profile.duration)} of the request`,
    warnings: repetitions.map(({ kind, count, locations: [location] }) => {
      const what = kind === 'loop' ? `N+1: ${count} queries of one shape` : `${count} equal queries`
      return location === undefined ? what : `${what} at ${locationText(location, root)}`
    }),
    rows: groupQueries(queries)
      .sort((one, other) => other.duration - one.duration)
      .map(({ first, queries: { length }, duration }) => [
        length > 1 ? `${length} ×` : '',
        first.sql,
        formatNumber(duration),
      ]),
    ...(waited > 0 && { foot: `${formatDuration(waited)} waiting for a connection` }),
  }
}
