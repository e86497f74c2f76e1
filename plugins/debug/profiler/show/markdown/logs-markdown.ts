import type { LogLine } from '../../base/profile.ts'
import { code, plain, table } from './markdown.ts'
import { levelName } from '../parts/tone.ts'
import { formatDuration } from '../parts/units.ts'
import { LOGGED_LENGTH, valueText } from '../parts/value.ts'

/** Log lines as a table: level, time since the request began, message, fields. */
export function logsMarkdown(logs: readonly LogLine[]): string {
  return table(
    ['Level', 'Start', 'Message', 'Fields'],
    logs.map(({ level, start, message, fields }) => [
      levelName(level),
      formatDuration(start),
      plain(message),
      Object.keys(fields).length === 0 ? '' : code(valueText(fields, 0, LOGGED_LENGTH)),
    ]),
  )
}
