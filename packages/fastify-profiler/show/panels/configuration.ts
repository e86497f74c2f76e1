import type { BuiltInPanel, ViewContext } from '../../collect/panel.ts'
import type { Configuration, PluginNode } from '../../base/profile.ts'
import { renderDataTable } from '../parts/data-table.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderKeyValueTable } from '../parts/key-value-table.ts'
import { renderLocation } from '../parts/location.ts'
import { blocks, code, plain, table } from '../markdown/markdown.ts'
import { routesMarkdown } from '../markdown/routes-markdown.ts'
import { renderSection } from '../parts/section.ts'
import { formatDuration, formatTime } from '../parts/units.ts'
import { valueText } from '../parts/value.ts'

function renderPlugin({ name, duration, children }: PluginNode): Markup {
  const label = html`${name}${duration !== null && html` <small>${formatDuration(duration)}</small>`}`
  if (children.length === 0) return html`<li>${label}</li>`
  return html`<li>${label}<ul>${children.map(renderPlugin)}</ul></li>`
}

function pluginLines({ name, duration, children }: PluginNode, depth = 0): string[] {
  const time = duration === null ? '' : `, ${formatDuration(duration)}`
  return [`${'  '.repeat(depth)}- ${plain(name)}${time}`, ...children.flatMap(child => pluginLines(child, depth + 1))]
}

function renderRoutes({ routes }: Configuration, context: ViewContext): Markup {
  return renderDataTable(
    'Routes',
    [{ label: 'Methods', kind: 'short' }, { label: 'Route' }, { label: 'Handler' }],
    routes.map(route => ({
      cells: [
        route.method.join(', '),
        html`<code>${route.url}</code>${route.host !== null && html` <span class="muted">on ${route.host}</span>`}`,
        html`${route.handler} <small>${route.plugin !== null && `plugin ${route.plugin} `}${renderLocation(route.location, context)}</small>`,
      ],
    })),
  )
}

/** The application's versions, settings, plugins and routes when the request ran. */
export const configurationPanel: BuiltInPanel<string> = {
  name: 'configuration',
  label: 'Configuration',
  read: ({ configuration }) => configuration,
  body: (key, context) => {
    const { configuration, profile } = context
    if (configuration === null) {
      return renderEmptyState(html`The configuration of this request (<code>${key}</code>) is no longer stored.`)
    }
    const settings = Object.entries(configuration.settings)
    return html`${renderSection(
      'Versions',
      renderKeyValueTable('Versions', [
        ...Object.entries(configuration.versions),
        ['Environment', configuration.environment ?? 'not set'],
        ['Process', `${profile.process.id}, started ${formatTime(profile.process.startedAt)}`],
      ]),
    )}
${renderSection('Settings', renderKeyValueTable('Settings', settings, 'No settings.'), settings.length)}
${renderSection('Plugins', html`${context.isFile !== true && html`<p><a href="${context.base}/boot">How the application started</a>, with what each plugin waited for</p>`}<ul class="tree">${renderPlugin(configuration.plugins)}</ul>`)}
${renderSection('Routes', renderRoutes(configuration, context), configuration.routes.length)}`
  },
  markdown: (_, { configuration, root }) =>
    configuration === null
      ? 'No longer stored.'
      : blocks(
          table(
            ['Name', 'Value'],
            [...Object.entries(configuration.versions), ...Object.entries(configuration.settings)].map(
              ([name, value]) => [code(name), code(valueText(value))],
            ),
          ),
          pluginLines(configuration.plugins).join('\n'),
          routesMarkdown(configuration.routes, root),
        ),
}
