import type { Profile } from '../../base/profile.ts'
import { locationText } from '../parts/location.ts'
import { blocks, code, table } from './markdown.ts'
import { nearMissText } from '../parts/near-misses.ts'
import { count } from '../parts/units.ts'

/** The matched route, or the nearest routes if none matched. */
export function routingMarkdown({ routing, method, path }: Profile, root: string): string {
  const { matched, nearMisses, routes } = routing
  if (matched !== null) {
    return `Matched ${code(`${matched.method.join(', ')} ${matched.url}`)}, handled by ${code(matched.handler)}.`
  }
  const asked = code(`${method} ${path}`)
  if (nearMisses.length === 0) {
    return `No route matches ${asked}, and none is similar. The application has ${count(routes, 'route')}.`
  }
  return blocks(
    `No route matches ${asked}. Nearest of ${count(routes, 'route')}:`,
    table(
      ['Methods', 'Route', 'Difference', 'Defined in'],
      nearMisses.map(miss => [
        miss.method.join(', '),
        code(miss.url),
        nearMissText(miss, path),
        miss.location === null ? '' : code(locationText(miss.location, root)),
      ]),
    ),
  )
}
