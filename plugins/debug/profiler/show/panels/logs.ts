import type { BuiltInPanel, Tone } from '../../collect/panel.ts'
import type { LogLine } from '../../base/profile.ts'
import { renderLogTable } from '../parts/log-table.ts'
import { logsMarkdown } from '../markdown/logs-markdown.ts'
import { count } from '../parts/units.ts'

/** The number of errors, or else of warnings, with their tone; null if there are neither. */
function worst(logs: readonly LogLine[]): { text: string; tone: Tone } | null {
  const errors = logs.filter(line => line.level >= 50).length
  if (errors > 0) return { text: String(errors), tone: 'error' }
  const warnings = logs.filter(line => line.level >= 40).length
  return warnings > 0 ? { text: String(warnings), tone: 'warning' } : null
}

/** Every log line of the request, whatever the level of stdout. */
export const logsPanel: BuiltInPanel<LogLine[]> = {
  name: 'logs',
  label: 'Logs',
  read: ({ logs }) => (logs.length === 0 ? null : logs),
  badge: logs => worst(logs) ?? { text: String(logs.length), tone: 'neutral' },
  toolbarItem: logs => {
    const bad = worst(logs)
    if (bad === null) return null
    return { label: 'Logs', value: count(Number(bad.text), bad.tone === 'error' ? 'error' : 'warning'), tone: bad.tone }
  },
  body: logs => renderLogTable(logs),
  markdown: logsMarkdown,
}
