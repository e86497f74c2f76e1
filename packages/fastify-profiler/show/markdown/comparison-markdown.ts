import type { Comparison, ComparedRequest } from '../../compare/comparison.ts'
import { differenceOf } from '../../compare/comparison.ts'
import { comparisonSentence, conclusionsOf, noiseText, pairName } from '../parts/comparison-text.ts'
import { locationText } from '../parts/location.ts'
import { levelName, statusText } from '../parts/tone.ts'
import { formatDuration, formatTime } from '../parts/units.ts'
import { blocks, code, plain, table } from './markdown.ts'

const rowsListed = 30

/** A comparison as Markdown: the sentence, what changed, and the tables behind it. */
export function renderComparisonMarkdown(comparison: Comparison, root: string): string {
  const { a, b, logs, notes, values } = comparison
  return (
    blocks(
      `# ${plain(comparisonSentence(comparison))}`,
      [`- A: ${requestText(a)}`, `- B: ${requestText(b)}`, ...notes.map(note => `- ${plain(note)}`)].join('\n'),
      [
        ...conclusionsOf(comparison).map(({ claim, detail, location }) => {
          const place = location === null ? '' : ` ${code(locationText(location, root))}`
          return `- ${plain(`${claim} ${detail}`.trim())}${place}`
        }),
        `- ${noiseText(comparison)}`,
      ].join('\n'),
      '## Spans',
      spansTable(comparison, root),
      '## SQL by shape',
      statementsTable(comparison, root),
      '## Headers that differ',
      values.length === 0
        ? 'None.'
        : table(
            ['Name', 'A', 'B'],
            values.map(({ name, of, a, b }) => [code(`${name} (${of})`), valueText(a), valueText(b)]),
          ),
      logs.length === 0 ? null : '## Log lines that differ',
      logs.length === 0
        ? null
        : table(
            ['Level', 'Message', 'A', 'B'],
            logs
              .slice(0, rowsListed)
              .map(({ level, message, a, b }) => [levelName(level), plain(message), String(a), String(b)]),
          ),
    ) + '\n'
  )
}

function requestText({ duration, method, status, time, token, url }: ComparedRequest): string {
  return `${statusText(status)}, ${code(`${method} ${url}`)}, ${formatDuration(duration)}, ${formatTime(time)}, profile ${code(token)}`
}

function spansTable({ spans }: Comparison, root: string): string {
  return table(
    ['Span', 'Called from', 'A', 'B', 'Change'],
    spans.slice(0, rowsListed).map(pair => {
      const { a, b, change, location } = pair
      return [
        plain(pairName(pair)),
        location === null ? '' : code(locationText(location, root)),
        timesText(a),
        timesText(b),
        change === null ? 'within noise' : formatChange(differenceOf(pair)),
      ]
    }),
  )
}

function timesText(times: Comparison['spans'][number]['a']): string {
  return times === null ? 'none' : `${times.count} ×, ${formatDuration(times.time)}`
}

function formatChange(difference: number): string {
  return `${difference < 0 ? '−' : '+'}${formatDuration(Math.abs(difference))}`
}

function statementsTable({ statements }: Comparison, root: string): string {
  if (statements.length === 0) return 'None.'
  return table(
    ['Statement', 'Called from', 'A', 'B'],
    statements
      .slice(0, rowsListed)
      .map(({ shape, location, a, b }) => [
        code(shape),
        location === null ? '' : code(locationText(location, root)),
        a === null ? 'none' : `${a.count} ×, ${formatDuration(a.time)}`,
        b === null ? 'none' : `${b.count} ×, ${formatDuration(b.time)}`,
      ]),
  )
}

function valueText(value: string | null): string {
  return value === null ? 'none' : code(value)
}
