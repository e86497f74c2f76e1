import { html, renderBadge, renderDataTable, renderEmptyState, renderLocation, renderMetrics, renderSqlBlock, type Panel, type Span, type ViewContext } from '../profiler/index.ts'
import type { QueryLog, QueryRecord, RequestQueries } from '../query-log.ts'

/** From so many of one shape from one line on, a loop asks what one query could. */
const loopFrom = 5

/** Queries that were asked more often than they need have been. */
export interface Repetition {
  /** loop: one shape, asked from one line with different parameters (N+1). duplicate: the same parameters, too. */
  kind: 'loop' | 'duplicate'
  sql: string
  count: number
  /** Id of the span of the first of them. */
  span: number
}

interface DatabaseData extends RequestQueries {
  repetitions: Repetition[]
}

/** Every query: its SQL, its parameters, where it was asked, how long it took and waited, what it brought back. */
export function databasePanel (log: QueryLog): Panel<DatabaseData> {
  return {
    name: 'database',
    label: 'Database',
    collect ({ recorder, profile }) {
      const queries = log.of(recorder)
      return queries.count === 0 ? null : { ...queries, repetitions: findRepetitions(queries.first, profile.spans) }
    },
    badge: ({ first, count, repetitions }) => ({
      text: String(count),
      tone: first.some(({ error }) => error !== null) ? 'error' : repetitions.length > 0 ? 'warning' : 'neutral'
    }),
    toolbarItem: ({ first, count, repetitions }) => ({
      label: 'Queries',
      value: `${count} in ${totalOf(first).toFixed(1)} ms`,
      tone: repetitions.length > 0 ? 'warning' : 'neutral'
    }),
    body: (data, context) => html`${renderMetrics([
      { label: 'Queries', value: String(data.count) },
      { label: 'Time', value: `${totalOf(data.first).toFixed(2)} ms` },
      { label: 'Waited for a connection', value: `${data.first.reduce((sum, { waited }) => sum + waited, 0).toFixed(2)} ms` },
      { label: 'Rows', value: String(data.first.reduce((sum, { rows }) => sum + (rows ?? 0), 0)) }
    ])}
${data.repetitions.length > 0 && renderRepetitions(data.repetitions, context)}
<h3>Queries</h3>
${renderQueries(data, context)}`
  }
}

/** Finds loops and duplicates among queries: shapes are equal by their SQL, in which parameters are places. */
export function findRepetitions (queries: readonly QueryRecord[], spans: readonly Span[]): Repetition[] {
  const loops = new Map<string, { sql: string, span: number, parameters: Set<string>, count: number }>()
  for (const { span: id, parameters } of queries) {
    const span = id === null ? undefined : spans[id]
    if (id === null || span === undefined || span.location === null) continue
    const sql = span.detail ?? ''
    const { file, line, column } = span.location
    const shape = `${file}:${line}:${column} ${sql}`
    const group = loops.get(shape) ?? { sql, span: id, parameters: new Set(), count: 0 }
    group.parameters.add(JSON.stringify(parameters))
    group.count++
    loops.set(shape, group)
  }
  return [...loops.values()].flatMap(({ sql, span, parameters, count }): Repetition[] => {
    if (count >= loopFrom && parameters.size > 1) return [{ kind: 'loop', sql, span, count }]
    return count > parameters.size ? [{ kind: 'duplicate', sql, span, count }] : []
  })
}

function totalOf (queries: readonly QueryRecord[]): number {
  return queries.reduce((sum, { duration }) => sum + duration, 0)
}

function renderRepetitions (repetitions: readonly Repetition[], context: ViewContext) {
  return html`<h3>Asked too often</h3>
${renderDataTable('Repetitions', [{ label: 'Times', kind: 'number' }, { label: 'What' }, { label: 'Query' }], repetitions.map(({ kind, sql, span, count }) => ({
  cells: [
    String(count),
    renderBadge(kind === 'loop' ? 'loop (N+1)' : 'duplicate', 'warning'),
    html`${renderSqlBlock(sql)}${renderLocation(context.profile.spans[span]?.location ?? null, context)}`
  ]
})))}`
}

function renderQueries ({ first, count }: DatabaseData, context: ViewContext) {
  if (first.length === 0) return renderEmptyState('No query.')
  return html`${renderDataTable('Queries', [{ label: '#', kind: 'number' }, { label: 'Time', kind: 'number' }, { label: 'Waited', kind: 'number' }, { label: 'Rows', kind: 'number' }, { label: 'Query' }], first.map((query, index) => {
    const span = query.span === null ? undefined : context.profile.spans[query.span]
    return {
      cells: [
        String(index + 1),
        `${query.duration.toFixed(2)} ms`,
        `${query.waited.toFixed(2)} ms`,
        query.rows === null ? '' : String(query.rows),
        html`${renderSqlBlock(span?.detail ?? '')}
${query.parameters.length > 0 && html`<p>with <code>${JSON.stringify(query.parameters)}</code></p>`}
${query.error !== null && html`<p>${renderBadge('failed', 'error')} ${query.error}</p>`}
${renderLocation(span?.location ?? null, context)}`
      ]
    }
  }))}
${first.length < count && html`<p class="muted">${String(count - first.length)} further queries are not listed.</p>`}`
}
