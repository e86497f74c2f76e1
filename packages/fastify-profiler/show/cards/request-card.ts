import type { Profile } from '../../base/profile.ts'
import type { ToolbarCard } from '../../collect/panel.ts'
import { locationText } from '../parts/location.ts'

/** Which request this page answers, and which code did. */
export function requestCard({ host, method, routing, token, url }: Profile, root: string): ToolbarCard {
  const { matched } = routing
  return {
    title: `${method} ${url}`,
    rows: [
      ...(matched === null ? [] : [['route', `${matched.method.join(', ')} ${matched.url}`, ''] as const]),
      ...(matched === null ? [] : [['handler', matched.handler, ''] as const]),
      ...(matched?.location == null ? [] : [['defined in', locationText(matched.location, root), ''] as const]),
      ...(host === null ? [] : [['host', host, ''] as const]),
      ['token', token, ''],
    ],
  }
}
