import type { DatabaseUse, Query } from '../../base/profile.ts'
import type { ViewContext } from '../../collect/panel.ts'
import { isExplainable } from '../../explain/explain-query.ts'
import { percent } from './bar.ts'
import { renderBadge } from './badge.ts'
import { renderSqlBlock } from './code-block.ts'
import { renderExplainForm } from './explain-form.ts'
import { highlightSql } from './highlight.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'
import { divideByTransaction, groupQueries, type QueryGroup, type TransactionRun } from './query-groups.ts'
import { runnableSql } from './runnable-sql.ts'
import { count, formatDuration, formatMilliseconds, formatShare } from './units.ts'

const STATEMENT_LENGTH = 300
const ticksShown = 100
const parametersShown = 20
const longestParameters = 2000

export const notOver = 'Unfinished when the profile was made: still running, or waiting for a connection.'
const noPlace = 'Sent by a library.'

/** The queries, one row for each statement of a line: as sent, with transactions in brackets, or slowest first. */
export function renderQueryList(data: DatabaseUse, context: ViewContext, order: 'sent' | 'time'): Markup {
  const groups = groupQueries(data.queries)
  const longest = Math.max(...data.queries.map(({ duration }) => duration ?? 0), 0)
  const row = (group: QueryGroup) => renderRow(group, data, longest, context)
  const body =
    order === 'time'
      ? groups.sort((one, other) => other.duration - one.duration).map(row)
      : divideByTransaction(groups).map(run => renderRun(run, row))
  return html`<div class="query-head" aria-hidden="true"><span class="number">No.</span><span class="number">ms</span><span class="number only-wide">Share</span><span class="only-wide">Each, up to ${formatDuration(longest)}</span><span class="number only-wide">Rows</span><span>Statement</span></div>
<div class="queries">${body}</div>`
}

function renderRun({ transaction, groups }: TransactionRun, row: (group: QueryGroup) => Markup): Markup {
  if (transaction === null) return html`${groups.map(row)}`
  const sum = groups.reduce((total, { duration }) => total + duration, 0)
  const queries = groups.reduce((total, group) => total + group.queries.length, 0)
  return html`<section class="transaction"><p class="muted">Transaction ${transaction}: ${count(queries, 'query', 'queries')}, ${formatDuration(sum)}</p>${groups.map(row)}</section>`
}

function renderRow(group: QueryGroup, data: DatabaseUse, longest: number, context: ViewContext): Markup {
  const { first, queries, number, duration } = group
  const last = number + queries.length - 1
  const isRepeated = data.repetitions.some(({ sql }) => sql === first.sql) && queries.length > 1
  const isOver = queries.some(query => query.duration !== null)
  const rows = queries.reduce((sum, query) => sum + (query.rows ?? 0), 0)
  return html`<div class="query-row" id="query-${number}"><details><summary><span class="number muted">${queries.length > 1 ? `${number}–${last}` : number}</span><span class="number">${isOver ? formatMilliseconds(duration) : '–'}</span><span class="number muted only-wide">${formatShare(duration, data.duration)}</span>${renderSpread(queries, longest)}<span class="number only-wide">${rows}</span><span class="cut">${queries.length > 1 && html`<b${isRepeated && html` class="text-warning"`}>${queries.length} ×</b> `}${queries.some(({ error }) => error !== null) && html`${renderBadge('failed', 'error')} `}${!isOver && html`${renderBadge('unfinished', 'warning')} `}<code>${highlightSql(first.sql.slice(0, STATEMENT_LENGTH))}</code></span></summary>
${renderQueryBody(group, context)}</details><span class="at">${first.location === null ? html`<span class="place muted" title="${noPlace}">library</span>` : renderLocation(first.location, context)}</span></div>`
}

/** A tick for the duration of each query, and a longer one for their median. */
function renderSpread(queries: readonly Query[], longest: number): Markup {
  const each = queries.flatMap(({ duration }) => duration ?? []).sort((one, other) => one - other)
  const median = each.length > 1 ? each[Math.floor(each.length / 2)] : undefined
  const tick = (ms: number, name: string, top: number) =>
    html`<line class="${name}" x1="${percent(ms, longest * 1.02)}" x2="${percent(ms, longest * 1.02)}" y1="${top}" y2="${16 - top}"/>`
  return html`<svg class="spread only-wide" aria-hidden="true"><line class="base" x1="0%" x2="100%" y1="8" y2="8"/>${each.slice(0, ticksShown).map(ms => tick(ms, 'each', 3))}${median !== undefined && tick(median, 'median', 0)}</svg>`
}

function renderQueryBody({ first, number, queries }: QueryGroup, { base, explains, profile }: ViewContext): Markup {
  const waited = queries.reduce((longest, query) => Math.max(longest, query.waited), 0)
  const errors = [...new Set(queries.flatMap(({ error }) => error ?? []))]
  const given = queries.filter(({ parameters }) => parameters.length > 0)
  return html`<div class="query-body">${errors.map(error => html`<p>${renderBadge('failed', 'error')} ${error}</p>`)}${queries.some(({ duration }) => duration === null) && html`<p>${renderBadge('unfinished', 'warning')} ${notOver}</p>`}
${renderSqlBlock(first.sql)}
${given.length > 0 && html`<ol class="parameters">${given.slice(0, parametersShown).map(({ parameters }) => html`<li><code>${parametersText(parameters).slice(0, longestParameters)}</code></li>`)}</ol>`}${given.length > parametersShown && html`<p class="muted">and ${given.length - parametersShown} more</p>`}
<p class="muted">Waited at most ${formatDuration(waited)} for a connection.</p>
<div class="copies"><button type="button" data-copy-text="${first.sql}" hidden>Copy SQL</button><button type="button" data-copy-text="${runnableSql(first)}" hidden>Copy runnable SQL</button>${explains === true && isExplainable(first) && renderExplainForm(base, profile.token, number)}</div></div>`
}

/** $1 = "localhost", $2 = 1 */
export function parametersText(parameters: readonly unknown[]): string {
  return parameters.map((parameter, index) => `$${index + 1} = ${JSON.stringify(parameter)}`).join(', ')
}
