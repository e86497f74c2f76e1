import type { BuiltInPanel } from '../../collect/panel.ts'
import type { Routing } from '../../base/profile.ts'
import { html } from '../../base/html.ts'
import { renderKeyValueTable } from '../parts/key-value-table.ts'
import { renderLocation } from '../parts/location.ts'
import { routingMarkdown } from '../markdown/routing-markdown.ts'
import { renderNearMisses } from '../parts/near-misses.ts'
import { renderSection } from '../parts/section.ts'
import { count } from '../parts/units.ts'

/** The matched route, or the nearest routes if none matched. */
export const routingPanel: BuiltInPanel<Routing> = {
  name: 'routing',
  label: 'Routing',
  read: ({ routing }) => routing,
  badge: ({ matched }) => (matched === null ? { text: 'no match', tone: 'warning' } : null),
  toolbarItem: ({ matched }) =>
    matched === null
      ? { label: 'Route', value: 'none', tone: 'warning' }
      : { label: 'Route', value: matched.url, tone: 'neutral' },
  body: ({ matched, routes }, context) => {
    if (matched === null) return renderNearMisses(context.profile, context)
    const params = Object.entries(matched.params)
    return html`${renderKeyValueTable('Matched route', [
      ['Route', html`<code>${matched.method.join(', ')} ${matched.url}</code>`],
      ['Host', matched.host ?? 'any'],
      ...(matched.version === undefined ? [] : [['Version', matched.version] as const]),
      ['Handler', matched.handler],
      ['Plugin', matched.plugin ?? 'none'],
      ['Defined in', renderLocation(matched.location, context)],
    ])}
${params.length > 0 && renderSection('Parameters', renderKeyValueTable('Parameters', params), params.length)}
<p class="muted">The application has ${count(routes, 'route')}.</p>`
  },
  markdown: (_, { profile, root }) => routingMarkdown(profile, root),
}
