import { shown } from '../ask/answer-text.ts'
import type { ProfileSummary } from '../base/summary.ts'
import { statusTone } from '../show/parts/tone.ts'
import { formatDuration } from '../show/parts/units.ts'
import { colored, type Color, type Terminal } from './terminal.ts'

const colors: Record<ReturnType<typeof statusTone>, Color> = {
  good: 'green',
  neutral: 'gray',
  warning: 'yellow',
  error: 'red',
}

/** A request in one line: its token, status, time, queries, URL and exception. */
export function summaryLine(summary: ProfileSummary, terminal: Pick<Terminal, 'hasColors' | 'columns'>): string {
  const { duration, exception, method, queries, repeated, status, token, url } = summary
  const figures = [
    formatDuration(duration).padStart(9),
    (queries.count > 0 ? `${queries.count} SQL` : '').padStart(7),
    repeated > 0 ? 'N+1' : '   ',
  ].join(' ')
  const head = `${oneLine(token)} `
  const text = `${oneLine(`${method} ${url}`)}${exception === null ? '' : `  ${oneLine(exception)}`}`
  const room = terminal.columns - head.length - figures.length - 6
  const cut = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text
  const mark = String(status ?? '–').padStart(3)
  return `${colored(terminal, 'gray', head)}${colored(terminal, colors[statusTone(status)], mark)} ${figures} ${cut}`
}

function oneLine(text: string): string {
  return shown(text).replace(/\s+/g, ' ')
}
