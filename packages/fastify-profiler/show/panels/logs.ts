import type { BuiltInPanel } from '../../collect/panel.ts'
import type { LogLine } from '../../base/profile.ts'
import { html } from '../../base/html.ts'
import { browserLines } from '../../collect/browser-lines.ts'
import { logCard } from '../cards/log-card.ts'
import { loggedProblems } from '../parts/logged-problems.ts'
import { renderBrowserLines, renderLogTable } from '../parts/log-table.ts'
import { logsMarkdown } from '../markdown/logs-markdown.ts'

/** Every log line of the request, whatever the level of stdout, and what its page has reported. */
export const logsPanel: BuiltInPanel<LogLine[]> = {
  name: 'logs',
  label: 'Logs',
  read(profile) {
    const lines = [...profile.logs, ...browserLines(profile)]
    return lines.length === 0 ? null : lines
  },
  badge: logs => loggedProblems(logs) ?? { text: String(logs.length), tone: 'neutral' },
  toolbarItem(logs) {
    const problems = loggedProblems(logs)
    return problems === null ? null : { label: 'Logs', value: problems.text, tone: problems.tone, card: logCard(logs) }
  },
  body: (_, context) => html`${renderLogTable(context.profile, context)}
${renderBrowserLines(browserLines(context.profile), context)}`,
  markdown: (logs, { root }) => logsMarkdown(logs, root),
}
