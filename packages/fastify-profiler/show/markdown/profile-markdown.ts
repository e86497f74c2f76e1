import type { AnyPanel, ViewContext } from '../../collect/panel.ts'
import { blocks, code, codeBlock, plain } from './markdown.ts'
import { panelData } from '../parts/panel-menu.ts'
import { parentName } from '../parts/parent-name.ts'
import { outcomeText, statusText } from '../parts/tone.ts'
import { formatDuration, formatTime } from '../parts/units.ts'
import { valueText } from '../parts/value.ts'

/** A profile as Markdown: the open panel, or every panel that has data. */
export function renderProfileMarkdown(context: ViewContext, panels: readonly AnyPanel[], open?: string): string {
  const { profile } = context
  const shown = open === undefined ? panels : panels.filter(({ name }) => name === open)
  return (
    blocks(
      `# ${statusText(profile.status)}: ${code(`${profile.method} ${profile.url}`)}`,
      [
        `- Token: ${code(profile.token)}`,
        `- Time: ${formatTime(profile.time)}`,
        `- Duration: ${formatDuration(profile.duration)}`,
        `- Host: ${code(profile.host ?? 'none')}, IP: ${code(profile.ip ?? 'unknown')}`,
        ...(profile.parent === null ? [] : [`- ${parentName(profile)}: ${code(profile.parent)}`]),
        `- Outcome: ${outcomeText(profile.outcome) ?? 'Completed'}`,
        ...Object.entries(profile.labels).map(([name, value]) => `- ${plain(name)}: ${plain(value)}`),
        ...profile.dropped.map(drop => `- ${plain(drop.what)}: ${drop.count} left out. ${plain(drop.why)}`),
        ...profile.notes.map(note => `- Note: ${plain(note)}`),
      ].join('\n'),
      ...shown.map(panel => {
        const data = panelData(panel, profile)
        return data === null ? null : blocks(`## ${plain(panel.label)}`, panelMarkdown(panel, data, context))
      }),
    ) + '\n'
  )
}

function panelMarkdown(panel: AnyPanel, data: unknown, context: ViewContext): string {
  try {
    return panel.markdown?.(data, context) ?? codeBlock(valueText(data, 2), 'json')
  } catch (error) {
    return `This panel could not be shown: ${plain(String(error))}`
  }
}
