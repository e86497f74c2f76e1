import type { LogLine } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderEmptyState } from './empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { levelName, levelNames, levelTone } from './tone.ts'
import { formatDuration } from './units.ts'
import { LOGGED_LENGTH, renderValue } from './value.ts'

/**
 * The log lines of a request, with a checkbox for each level. The stylesheet hides unchecked levels, so that the
 * filter works without a script.
 */
export function renderLogTable(logs: readonly LogLine[]): Markup {
  if (logs.length === 0) return renderEmptyState('Nothing was logged during this request.')
  const counts = new Map<string, number>()
  for (const { level } of logs) counts.set(levelName(level), (counts.get(levelName(level)) ?? 0) + 1)
  return html`<div class="logs">
${
  counts.size > 1 &&
  html`<fieldset class="levels"><legend>Levels</legend>${levelNames
    .filter(name => counts.has(name))
    .map(
      name => html`
<label><input type="checkbox" checked class="level-${name}"> ${name} <span class="count">${counts.get(name)}</span></label>`,
    )}
</fieldset>`
}
<ol class="log-lines">${logs.map(renderLine)}
</ol></div>`
}

function renderLine({ level, start, message, fields }: LogLine): Markup {
  const entries = Object.entries(fields)
  return html`
<li class="level-${levelName(level)}">${renderBadge(levelName(level), levelTone(level))} <span class="start">${formatDuration(start)}</span>
<div><p class="message">${message === '' ? html`<span class="muted">No message.</span>` : message}</p>${entries.length > 0 && html`<dl class="fields">${entries.map(([name, value]) => html`<div><dt>${name}</dt> <dd>${renderValue(value, LOGGED_LENGTH)}</dd></div>`)}</dl>`}</div></li>`
}
