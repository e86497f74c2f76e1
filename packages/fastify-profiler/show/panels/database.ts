import { html } from '../../base/html.ts'
import type { DatabaseUse, Repetition } from '../../base/profile.ts'
import type { BuiltInPanel, Tone, ViewContext } from '../../collect/panel.ts'
import { queryCard } from '../cards/query-card.ts'
import { blocks, code, plain, table } from '../markdown/markdown.ts'
import { locationText, renderLocation } from '../parts/location.ts'
import { renderMetrics } from '../parts/metrics.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { notOver, parametersText, renderQueryList } from '../parts/query-list.ts'
import { renderSeverity } from '../parts/severity.ts'
import { count as counted, formatDuration, formatShare } from '../parts/units.ts'

const longestTitle = 500
const repetitionNames = { loop: 'loop (N+1)', duplicate: 'duplicate' }
const repetitionReasons = {
  loop: 'The same line ran one statement with different parameters. One query could fetch all the rows.',
  duplicate: 'They have the same parameters. The first result could be reused.',
}

/** Every query: SQL, parameters, caller, duration, wait for a connection, rows. */
export const databasePanel: BuiltInPanel<DatabaseUse> = {
  name: 'database',
  label: 'Database',
  read: ({ database }) => database,
  badge: data => ({ text: String(data.count), tone: toneOf(data) }),
  toolbarItem: (data, context) => ({
    label: 'SQL',
    value: `${data.count} · ${formatDuration(data.duration)}`,
    tone: toneOf(data),
    card: queryCard(data, context),
  }),
  body(data, context) {
    const { count, queries, repetitions } = data
    const order = context.query?.get('order') === 'time' ? 'time' : 'sent'
    return html`${renderTotals(data, context.profile.duration)}
${repetitions.length > 0 && html`<ul class="findings">${repetitions.map(repetition => renderRepetition(repetition, context))}</ul>`}
<section aria-labelledby="queries"><div class="head"><h2 id="queries">Queries <small>one row a statement and line, a tick a query, the long one their median; ${order === 'sent' ? 'in the order they were sent' : 'slowest first'}</small></h2>${context.isFile !== true && html`<nav class="right chips" aria-label="Order">${renderOrder('sent', 'As sent', order, context)}${renderOrder('time', 'Slowest first', order, context)}</nav>`}</div>
${queries.length < count && html`<p class="notice">Showing the first ${queries.length} of ${count} queries. The totals include all of them.</p>`}
${renderQueryList(data, context, order)}</section>`
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
          duration === null ? '' : formatDuration(duration),
          formatDuration(waited),
          rows === null ? '' : String(rows),
          `${code(sql)}${duration === null ? ` ${notOver}` : ''}${error === null ? '' : ` failed: ${plain(error)}`}`,
          parameters.length === 0 ? '' : code(parametersText(parameters)),
          location === null ? '' : code(locationText(location, context.root)),
        ]),
      ),
      queries.length < count
        ? `Showing the first ${queries.length} of ${count} queries. The totals include all of them.`
        : null,
    ),
}

function toneOf({ failed, repetitions }: DatabaseUse): Tone {
  if (failed > 0) return 'error'
  return repetitions.length > 0 ? 'warning' : 'neutral'
}

function renderTotals({ count, duration, failed, queries, rows, transactions, waited }: DatabaseUse, whole: number) {
  const shapes = new Set(queries.map(({ sql }) => sql)).size
  return renderMetrics([
    {
      label: count === 1 ? 'query' : 'queries',
      value: String(count),
      note: `of ${counted(shapes, 'shape')}${failed > 0 ? `, ${failed} failed` : ''}`,
    },
    { label: `${formatShare(duration, whole)} of the request`, value: formatDuration(duration) },
    { label: 'longest wait for a connection', value: formatDuration(waited) },
    { label: 'rows read or changed', value: String(rows) },
    ...(transactions > 0 ? [{ label: transactions === 1 ? 'transaction' : 'transactions', value: transactions }] : []),
  ])
}

function renderRepetition({ kind, sql, count, duration, locations }: Repetition, context: ViewContext) {
  const what = kind === 'loop' ? `N+1: ${count} queries of one shape` : `${count} equal queries`
  return html`
<li>${renderSeverity('warning')}<p title="${sql.slice(0, longestTitle)}"><b>${what}, ${formatDuration(duration)}.</b> ${repetitionReasons[kind]}</p><span>${locations.map(location => html` ${renderLocation(location, context)}`)}</span></li>`
}

function renderOrder(order: string, label: string, current: string, { base, profile }: ViewContext) {
  return html`<a class="chip" href="${profileUrl(base, profile.token, 'database')}&amp;order=${order}"${order === current && html` aria-current="true"`}>${label}</a>`
}
