import { routesMarkdown } from '../show/markdown/routes-markdown.ts'
import { count } from '../show/parts/units.ts'
import { answerText } from './answer-text.ts'
import type { Question } from './question.ts'
import { refusal } from './stored-profile.ts'

/** The routes of the application. */
export const routesQuestion: Question = {
  name: 'routes',
  title: 'Routes',
  description:
    'Call to find which file and line handles a path, or why a path is not found: lists the routes of the ' +
    'application with methods, handler and where each was registered.',
  parameters: {
    path: { type: 'string', description: 'Only routes whose pattern or handler contains this text.' },
    from: { type: 'integer', description: 'The line of the list to go on at. Default: 0.', minimum: 0 },
  },
  required: [],
  async answer({ given, number, text, tokens }, { archive, root }) {
    const all = archive.routes()
    if (all === null) return refusal('No routes are stored. The application has not been ready yet.')
    const wanted = (text('path') ?? '').toLowerCase()
    const routes = all.filter(({ handler, url }) => `${url}\n${handler}`.toLowerCase().includes(wanted))
    const section = {
      heading: 'Routes',
      recorded: routes.length === 0 ? 'None.' : routesMarkdown(routes, root),
      from: number('from') ?? 0,
      more: (line: number) => ({ tool: 'routes', arguments: { ...given, from: line } }),
    }
    const lead = `# ${count(routes.length, 'route')}${wanted === '' ? '' : ` of ${all.length}`}`
    return { text: answerText(lead, [section], [], tokens), data: { routes } }
  },
}
