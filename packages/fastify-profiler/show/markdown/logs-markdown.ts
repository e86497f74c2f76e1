import type { LogLine } from '../../base/profile.ts'
import { code, plain, table } from './markdown.ts'
import { locationText } from '../parts/location.ts'
import { levelName } from '../parts/tone.ts'
import { formatDuration } from '../parts/units.ts'
import { LOGGED_LENGTH, valueText } from '../parts/value.ts'

/** Log lines as a table: level, time since the request began, message, fields, and the line of a warning. */
export function logsMarkdown(logs: readonly LogLine[], root: string): string {
  return table(
    ['Level', 'Start', 'Message', 'Fields', 'From'],
    logs.map(({ level, start, message, fields, location }) => [
      levelName(level),
      formatDuration(start),
      plain(message),
      Object.keys(fields).length === 0 ? '' : code(valueText(fields, 0, LOGGED_LENGTH)),
      location === undefined ? '' : code(locationText(location, root)),
    ]),
  )
}
