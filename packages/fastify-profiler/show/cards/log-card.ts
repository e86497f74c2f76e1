import type { LogLine } from '../../base/profile.ts'
import type { ToolbarCard } from '../../collect/panel.ts'
import { levelName } from '../parts/tone.ts'
import { count as counted, formatNumber } from '../parts/units.ts'

/** The lines from warnings on, worst first. */
export function logCard(logs: readonly LogLine[]): ToolbarCard {
  return {
    title: counted(logs.length, 'line'),
    rows: logs
      .filter(({ level }) => level >= 40)
      .sort((one, other) => other.level - one.level)
      .map(({ level, message, start }) => [levelName(level), message || 'No message.', formatNumber(start)]),
    foot: 'ms since the request arrived',
  }
}
