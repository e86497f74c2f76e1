import { createHash } from 'node:crypto'
import type { BuiltInPanel, ViewContext } from '../core/panel.ts'
import type { Configuration, Json, PluginNode, Route } from '../core/profile.ts'
import {
  renderDataTable,
  renderEmptyState,
  renderKeyValueTable,
  renderLocation,
  renderSection,
  valueText,
} from '../core/view/elements.ts'
import { html, type Markup } from '../core/view/html.ts'
import { blocks, code, plain, table } from '../core/view/markdown.ts'
import { formatDuration, formatTime } from '../core/view/units.ts'
import { routesMarkdown } from './routing/routing-panel.ts'

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

interface ConfigurationParts {
  versions: Record<string, string>
  settings: Record<string, Json>
  plugins: PluginNode
  routes: Route[]
}

/** Makes a configuration. Its key starts with the time, so that the newest one is last when sorted by key. */
export function describeConfiguration(parts: ConfigurationParts): Configuration {
  const { versions, settings, plugins, routes } = parts
  const content = {
    versions: { node: process.version.slice(1), ...versions },
    environment: process.env.NODE_ENV ?? null,
    settings,
    plugins,
    routes,
  }
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 12)
  return { key: `${Date.now().toString(36)}-${digest}`, ...content }
}
