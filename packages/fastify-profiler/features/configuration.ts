import { features, type Question } from '../core/feature.ts'
import type { BuiltInPanel } from '../core/panel.ts'
import type { Json } from '../core/profile.ts'
import { type Block, blocksMarkdown, emptyBlocks } from '../core/view/block.ts'
import { html, type Markup } from '../core/view/html.ts'
import { plain } from '../core/view/markdown.ts'
import { count, formatDuration, formatTime } from '../core/view/units.ts'
import type { PluginNode } from '../core/watch/plugin-tree.ts'
import { answerText, refusal, sectionFrom } from './home/question.ts'
import { routeList } from './routing/routing-panel.ts'

function renderPlugin({ name, duration, children }: PluginNode): Markup {
  const label = html`${name}${duration !== null && html` <small>${formatDuration(duration)}</small>`}`
  if (children.length === 0) return html`<li>${label}</li>`
  return html`<li>${label}<ul>${children.map(renderPlugin)}</ul></li>`
}

function pluginLines({ name, duration, children }: PluginNode, depth = 0): string[] {
  const time = duration === null ? '' : `, ${formatDuration(duration)}`
  return [`${'  '.repeat(depth)}- ${plain(name)}${time}`, ...children.flatMap(child => pluginLines(child, depth + 1))]
}

function pluginTree(plugins: PluginNode): Block {
  return { html: html`<ul class="tree">${renderPlugin(plugins)}</ul>`, markdown: pluginLines(plugins).join('\n') }
}

/** The application's versions, settings, plugins and routes when the request ran. */
export const configurationPanel: BuiltInPanel<string> = {
  name: 'configuration',
  label: 'Configuration',
  read: ({ configuration }) => configuration,
  view(key, { base, configuration, isFile, profile }) {
    if (configuration === null) {
      return emptyBlocks(`The configuration of this request (${key}) is no longer stored.`)
    }
    const { environment, plugins, routes, settings, versions } = configuration
    const values = (record: Record<string, Json>) =>
      Object.entries(record).map(([name, value]) => [name, { value }] as const)
    return [
      {
        section: 'Versions',
        blocks: [
          {
            title: 'Versions',
            pairs: values({
              ...versions,
              Environment: environment ?? 'not set',
              Process: `${profile.process.id}, started ${formatTime(profile.process.startedAt)}`,
            }),
          },
        ],
      },
      {
        section: 'Settings',
        count: Object.keys(settings).length,
        blocks: [{ title: 'Settings', pairs: values(settings), empty: 'No settings.' }],
      },
      {
        section: 'Plugins',
        blocks: [
          ...features.map(({ forPlugins }) => !isFile && forPlugins !== undefined && { text: forPlugins(base) }),
          pluginTree(plugins),
        ],
      },
      { section: 'Routes', count: routes.length, blocks: [routeList(routes)] },
    ]
  },
}

export const routesQuestion: Question = {
  name: 'routes',
  title: 'Routes',
  description:
    'Call to find which file and line handles a path, or why a path is not found: lists the routes of the ' +
    'application with methods, handler and where each was registered.',
  parameters: {
    path: { type: 'string', description: 'Only routes whose pattern or handler contains this text.' },
    from: { type: 'integer', description: 'The line to go on at. Default: 0.', minimum: 0 },
  },
  required: [],
  command: { name: 'routes', takes: '[path]', says: 'the routes, with their lines' },
  async answer(asked, { root, store }) {
    const all = store.findNewestConfiguration()?.routes
    if (all === undefined) return refusal('No routes are stored. The application has not been ready yet.')
    const wanted = (asked.text('path') ?? '').toLowerCase()
    const routes = all.filter(({ handler, url }) => `${url}\n${handler}`.toLowerCase().includes(wanted))
    const recorded = routes.length === 0 ? 'None.' : blocksMarkdown([routeList(routes)], root)
    const section = sectionFrom('routes', 'Routes', recorded, asked)
    const lead = `# ${count(routes.length, 'route')}${wanted === '' ? '' : ` of ${all.length}`}`
    return { text: answerText(lead, [section], [], asked.tokens), data: { routes } }
  },
}
