import type { Profile } from '../../base/profile.ts'
import { locationText } from '../parts/location.ts'
import { blocks, code, table } from './markdown.ts'
import { nearMissText } from '../parts/near-misses.ts'
import { count } from '../parts/units.ts'

/** The route that answered, or the nearest of those that did not. */
export function routingMarkdown({ routing, method, path }: Profile, root: string): string {
  const { matched, nearMisses, routes } = routing
  if (matched !== null) {
    return `Matched ${code(`${matched.method.join(', ')} ${matched.url}`)}, handler ${code(matched.handler)}.`
  }
  const asked = code(`${method} ${path}`)
  if (nearMisses.length === 0) return `The application has ${count(routes, 'route')}; none comes near ${asked}.`
  return blocks(
    `No route matches ${asked}. The nearest of ${routes}:`,
    table(
      ['Methods', 'Route', 'Why', 'Declared at'],
      nearMisses.map(miss => [
        miss.method.join(', '),
        code(miss.url),
        nearMissText(miss),
        miss.location === null ? '' : code(locationText(miss.location, root)),
      ]),
    ),
  )
}
