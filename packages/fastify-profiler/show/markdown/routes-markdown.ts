import type { Route } from '../../base/profile.ts'
import { locationText } from '../parts/location.ts'
import { code, plain, table } from './markdown.ts'

/** The routes of an application as a table. */
export function routesMarkdown(routes: readonly Route[], root: string): string {
  return table(
    ['Methods', 'Route', 'Handler', 'Registered at'],
    routes.map(({ method, url, host, handler, location }) => [
      method.join(', '),
      `${code(url)}${host === null ? '' : ` on ${code(host)}`}`,
      plain(handler),
      location === null ? '' : code(locationText(location, root)),
    ]),
  )
}
