import type { Overview } from '../../store/overview.ts'
import { routeName, troublesOf } from '../parts/route-troubles.ts'
import { formatDuration, formatTime } from '../parts/units.ts'
import { shortened } from './fit-lines.ts'
import { code, plain, table } from './markdown.ts'

/** Bytes of a text in a list. */
const longestCell = 160

/** What is wrong with routes lately, each with the request to look at. Empty if nothing is. */
export function troublesMarkdown({ routes }: Overview): string {
  return routes
    .flatMap(route =>
      troublesOf(route).map(
        ({ claim, detail }) =>
          `- ${code(route.token)}: ${plain(shortened(`${claim} ${detail ?? ''}`, 2 * longestCell))}`,
      ),
    )
    .join('\n')
}

/** The requests lately by route: those that failed first, then most time. */
export function routeTable({ routes }: Overview): string {
  return table(
    ['Profile', 'Route', 'Count', 'p50', 'p95', 'Worst', '4xx', '5xx', 'SQL'],
    routes.map(route => [
      code(route.token),
      code(shortened(routeName(route), longestCell)),
      String(route.count),
      formatDuration(route.p50),
      formatDuration(route.p95),
      formatDuration(route.worst),
      String(route.refused),
      String(route.failed),
      String(route.queries),
    ]),
  )
}

/** The exceptions lately: those that failed a request first, then the most frequent. */
export function exceptionTable({ exceptions }: Overview): string {
  return table(
    ['Profile', 'Exception', 'Count', 'Last'],
    exceptions.map(({ token, exception, count, last }) => [
      code(token),
      plain(shortened(exception, longestCell)),
      String(count),
      formatTime(last),
    ]),
  )
}

/** The SQL lately by shape, most time first. */
export function statementTable({ statements }: Overview): string {
  return table(
    ['Profile', 'Statement', 'Count', 'p50', 'p95', 'Worst'],
    statements.map(({ token, sql, count, p50, p95, worst }) => [
      code(token),
      code(shortened(sql, longestCell)),
      String(count),
      formatDuration(p50),
      formatDuration(p95),
      formatDuration(worst),
    ]),
  )
}
