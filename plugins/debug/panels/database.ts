import {
  blocks,
  code,
  count as counted,
  formatDuration,
  html,
  locationText,
  plain,
  renderBadge,
  renderDataTable,
  renderLocation,
  renderMetrics,
  renderSection,
  renderSqlBlock,
  table,
  toMicroseconds,
  type Panel,
  type Tone,
  type ViewContext,
} from 'fastify-profiler'
import type { QueryLog, QueryRecord } from '../queries/query-log.ts'
import type { Repetition } from '../queries/query-repetitions.ts'

export interface DatabaseData {
  /** Totals of all queries, including those not in `queries`. Times are milliseconds. */
  count: number
  failed: number
  rows: number
  duration: number
  /** The longest wait of a single query: waits overlap, so a sum would mislead. */
  waited: number
  repetitions: Repetition[]
  queries: QueryRecord[]
}

const repetitionNames = { loop: 'loop (N+1)', duplicate: 'duplicate' }
const repetitionReasons = {
  loop: 'N+1: the same line ran this statement repeatedly with different parameters. One query could fetch all the rows.',
  duplicate: 'This statement ran repeatedly with the same parameters. The first result could be reused.',
}
const notOver =
  'Unfinished when the profile was made: still running, waiting for a connection, or compiled but never sent.'
const longestUnfolded = 200
const noPlace = 'Sent by Kysely itself.'

/** Every query: SQL, parameters, caller, duration, wait for a connection, rows. */
export function databasePanel(log: QueryLog): Panel<DatabaseData> {
  return {
    name: 'database',
    label: 'Database',
    collect({ recorder }) {
      const queries = log.of(recorder)
      if (queries === null) return null
      const { count, failed, rows, duration, waited, repetitions, first } = queries
      return {
        count,
        failed,
        rows,
        duration: toMicroseconds(duration),
        waited: toMicroseconds(waited),
        repetitions: repetitions.found(),
        queries: first,
      }
    },
    badge: data => ({ text: String(data.count), tone: toneOf(data) }),
    toolbarItem: data => ({
      label: 'Queries',
      value: `${data.count} in ${formatDuration(data.duration)}`,
      tone: toneOf(data),
    }),
    body(data, context) {
      const { count, failed, rows, duration, waited, repetitions, queries } = data
      return html`${renderMetrics([
        { label: 'Queries', value: String(count), ...(failed > 0 && { note: `${failed} failed` }) },
        { label: 'Total time', value: formatDuration(duration) },
        { label: 'Longest wait for a connection', value: formatDuration(waited) },
        { label: 'Rows read or changed', value: String(rows) },
      ])}
${repetitions.length > 0 && renderSection('Repeated queries', renderRepetitions(repetitions, context), repetitions.length)}
${renderSection('Queries', html`${queries.length < count && html`<p class="notice">Showing the first ${String(queries.length)} of ${String(count)} queries. The totals include all of them.</p>`}${renderQueries(queries, context)}`, count)}`
    },
    markdown: ({ count, failed, rows, duration, waited, repetitions, queries }, context) =>
      blocks(
        `${counted(count, 'query', 'queries')} in ${formatDuration(duration)}, longest wait for a connection ${formatDuration(waited)}, ${counted(failed, 'failure')}, ${counted(rows, 'row')}.`,
        repetitions.length === 0
          ? null
          : blocks(
              '### Repeated queries',
              table(
                ['Count', 'Total time', 'Kind', 'Query', 'Called from'],
                repetitions.map(({ kind, sql, count, duration, locations }) => [
                  String(count),
                  formatDuration(duration),
                  repetitionNames[kind],
                  code(sql),
                  locations.map(location => code(locationText(location, context.root))).join(', '),
                ]),
              ),
            ),
        '### Queries',
        table(
          ['#', 'Duration', 'Wait for connection', 'Rows', 'Query', 'Parameters', 'Called from'],
          queries.map(({ duration, waited, rows, sql, parameters, error, location }, index) => [
            String(index + 1),
            formatDuration(duration),
            formatDuration(waited),
            rows === null ? '' : String(rows),
            `${sql === null ? notOver : code(sql)}${error === null ? '' : ` failed: ${plain(error)}`}`,
            parameters.length === 0 ? '' : code(parametersText(parameters)),
            location === null ? '' : code(locationText(location, context.root)),
          ]),
        ),
        queries.length < count
          ? `Showing the first ${queries.length} of ${count} queries. The totals include all of them.`
          : null,
      ),
  }
}

function toneOf({ failed, repetitions }: DatabaseData): Tone {
  if (failed > 0) return 'error'
  return repetitions.length > 0 ? 'warning' : 'neutral'
}

function renderRepetitions(repetitions: readonly Repetition[], context: ViewContext) {
  return renderDataTable(
    'Repeated queries',
    [{ label: 'Count', kind: 'number' }, { label: 'Total time', kind: 'number' }, { label: 'Query' }],
    repetitions.map(({ kind, sql, count, duration, locations }) => ({
      cells: [
        String(count),
        formatDuration(duration),
        html`<p>${renderBadge(repetitionNames[kind], 'warning')} ${locations.map(location => html` ${renderLocation(location, context)}`)}</p>
${renderSqlBlock(sql)}
<small>${repetitionReasons[kind]}</small>`,
      ],
    })),
  )
}

function renderQueries(queries: readonly QueryRecord[], context: ViewContext) {
  return renderDataTable(
    'Queries',
    [
      { label: '#', kind: 'number' },
      { label: 'Duration', kind: 'number' },
      { label: 'Rows', kind: 'number' },
      { label: 'Query' },
    ],
    queries.map((query, index) => ({
      cells: [
        html`<span id="query-${String(index + 1)}">${String(index + 1)}</span>`,
        query.duration === null ? '–' : formatDuration(query.duration),
        query.rows === null ? '–' : String(query.rows),
        renderQuery(
          query,
          queries.findIndex(({ sql }) => sql === query.sql),
          index,
          context,
        ),
      ],
    })),
  )
}

/** `first` is the index of the first query with the same SQL; only that one shows it. */
function renderQuery(
  { sql, parameters, duration, waited, error, location }: QueryRecord,
  first: number,
  index: number,
  context: ViewContext,
) {
  return html`${sql !== null && (first === index ? renderSqlBlock(sql) : html`<p>Same SQL as <a href="#query-${String(first + 1)}">#${String(first + 1)}</a></p>`)}
${duration === null && html`<p>${renderBadge('unfinished', 'warning')} ${notOver}</p>`}
${parameters.length > 0 && renderParameters(parameters)}
${error !== null && html`<p>${renderBadge('failed', 'error')} ${error}</p>`}
<small>${location === null ? noPlace : renderLocation(location, context)}${duration !== null && html` · waited ${formatDuration(waited)} for a connection`}</small>`
}

/** Long parameters are folded, or they would hide the queries between them. */
function renderParameters(parameters: readonly unknown[]) {
  const text = parametersText(parameters)
  if (text.length <= longestUnfolded) return html`<p><code>${text}</code></p>`
  return html`<details><summary>${counted(parameters.length, 'parameter')}, ${String(text.length)} characters</summary><code>${text}</code></details>`
}

/** $1 = "localhost", $2 = 1 */
function parametersText(parameters: readonly unknown[]): string {
  return parameters.map((parameter, index) => `$${index + 1} = ${JSON.stringify(parameter)}`).join(', ')
}
