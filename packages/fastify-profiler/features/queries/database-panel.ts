import { features } from '../../core/feature.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import type { BuiltInPanel, ToolbarCard, ViewContext } from '../../core/panel.ts'
import type { DatabaseUse, Json, Query, Repetition, StatementTotals } from '../../core/profile.ts'
import { highlightSql, renderSqlBlock } from '../../core/view/code-block.ts'
import { type Block, blocksMarkdown, type Finding } from '../../core/view/block.ts'
import { locationText, renderBadge, renderLocation } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code } from '../../core/view/markdown.ts'
import {
  count as counted,
  formatDuration,
  formatMilliseconds,
  formatNumber,
  formatShare,
} from '../../core/view/units.ts'
import { profileUrl } from '../../core/urls.ts'
import { callsBadge, callsItem, shareOfRequest } from '../home/profile-header.ts'
import { waitedFrom } from '../performance/findings.ts'
import { percent } from '../performance/waterfall.ts'
import { repetitionTexts, repetitionTime } from './remedy.ts'
import { readStatement } from './statement.ts'
import { statementShape } from '../../core/statement-shape.ts'

/** The queries that one line sent with one statement, in one transaction or outside of any. */
interface QueryGroup {
  first: Query
  queries: Query[]
  /** The number of the first, from 1. */
  number: number
  /** Milliseconds of all, without their waits. */
  duration: number
}

/** Gathers the queries that are one row, in the order in which the first of each was sent. */
export function groupQueries(queries: readonly Query[]): QueryGroup[] {
  const groups = new Map<string, QueryGroup>()
  for (const [index, query] of queries.entries()) {
    const { location, sql, transaction } = query
    const key = JSON.stringify([sql, transaction, location?.file, location?.line, location?.column])
    const group = groups.get(key) ?? { first: query, queries: [], number: index + 1, duration: 0 }
    group.queries.push(query)
    group.duration += query.duration ?? 0
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Rows that follow each other in one transaction, or outside of any. */
interface TransactionRun {
  transaction: number | null
  groups: QueryGroup[]
}

export function divideByTransaction(groups: readonly QueryGroup[]): TransactionRun[] {
  const runs: TransactionRun[] = []
  for (const group of groups) {
    const { transaction } = group.first
    const last = runs.at(-1)
    if (last?.transaction === transaction) last.groups.push(group)
    else runs.push({ transaction, groups: [group] })
  }
  return runs
}

/** The statements that took most time, and those that were repeated. */
export function queryCard(data: DatabaseUse, { profile, root }: ViewContext): ToolbarCard {
  const { count, duration, queries, repetitions, waited } = data
  return {
    title: `${counted(count, 'query', 'queries')}, ${formatDuration(duration)}`,
    note: `${formatShare(duration, profile.duration) || 'none'} of the request`,
    warnings: repetitions.map(repetition => {
      const [what] = repetitionTexts(repetition)
      const [location] = repetition.locations
      return location === undefined ? what : `${what} at ${locationText(location, root)}`
    }),
    rows: groupQueries(queries)
      .sort((one, other) => other.duration - one.duration)
      .map(({ first, queries: { length }, duration }) => [
        length > 1 ? `${length} ×` : '',
        first.sql,
        formatNumber(duration),
      ]),
    ...(waited > 0 && { foot: `waited up to ${formatDuration(waited)} for a connection` }),
  }
}

const STATEMENT_LENGTH = 300
const ticksShown = 100
const parametersShown = 20
const longestParameters = 2000

const noPlace = 'Sent by a library.'

/** The longest query of a list, and all of them one after another. Milliseconds. */
interface ListScale {
  longest: number
  whole: number
  /** Whether the size of any answer is known. */
  isSized: boolean
}

function kilobytes(queries: ReadonlyArray<{ bytes?: number | undefined }>): string {
  const sum = queries.reduce((total, { bytes = NaN }) => total + bytes, 0)
  return sum >= 0 ? formatNumber(sum / 1000) : '–'
}

function isSized({ bytes }: Query): boolean {
  return bytes !== undefined
}

/** The queries, one row for each statement of a line: as sent, with transactions in brackets, or slowest first. */
function renderQueryList(data: DatabaseUse, context: ViewContext, order: 'sent' | 'time'): Markup {
  const groups = groupQueries(data.queries)
  const longest = Math.max(...data.queries.map(({ duration }) => duration ?? 0), 0)
  const whole = groups.reduce((sum, { duration }) => sum + duration, 0)
  const scale = { longest, whole, isSized: data.queries.some(isSized) }
  const row = (group: QueryGroup) => renderRow(group, data, scale, context)
  const body =
    order === 'time'
      ? groups.sort((one, other) => other.duration - one.duration).map(row)
      : divideByTransaction(groups).map(run => renderRun(run, data, row))
  return html`<div class="query-head cells muted" aria-hidden="true"><span class="number">No.</span><span class="number">ms</span><span class="number only-wide">Share</span><span class="only-wide">Each, up to ${formatDuration(longest)}</span><span class="number only-wide">Rows</span>${scale.isSized && html`<span class="number only-wide">kB</span>`}<span>Statement</span></div>
<div class="queries">${body}</div>`
}

function renderRun(
  { transaction, groups }: TransactionRun,
  data: DatabaseUse,
  row: (group: QueryGroup) => Markup,
): Markup {
  if (transaction === null) return html`${groups.map(row)}`
  const sum = groups.reduce((total, { duration }) => total + duration, 0)
  const queries = groups.reduce((total, group) => total + group.queries.length, 0)
  return html`<section class="transaction"><p class="muted">Transaction ${transaction}: ${counted(queries, 'query', 'queries')}, ${formatDuration(sum)}, ${endingOf(transaction, data)}</p>${groups.map(row)}</section>`
}

/** How a transaction ended, by its last statement: a database may answer commit by rolling back what failed before. */
function endingOf(transaction: number, { count, queries }: DatabaseUse): string {
  const last = queries.findLast(query => query.transaction === transaction)
  const isEnd = last !== undefined && readStatement(last.sql).transaction === 'end'
  if (isEnd) return `ended by ${readStatement(last.sql).name}${last.error === null ? '' : ', which failed'}`
  return queries.length < count ? 'its end is not listed' : 'not ended by this request'
}

function renderRow(group: QueryGroup, data: DatabaseUse, scale: ListScale, context: ViewContext): Markup {
  const { first, queries, number, duration } = group
  const { isSized, longest, whole } = scale
  const waited = Math.max(...queries.map(query => query.waited))
  const last = data.queries.lastIndexOf(queries.at(-1) ?? first) + 1
  const between = last - number < queries.length ? '–' : '…'
  const error = queries.find(query => query.error !== null)?.error
  const isRepeated =
    data.repetitions.some(({ sql }) => statementShape(sql) === statementShape(first.sql)) && queries.length > 1
  const isOver = queries.some(({ duration, unsent }) => duration !== null && !unsent)
  const isSent = queries.some(({ unsent }) => !unsent)
  const rows = queries.reduce((sum, query) => sum + (query.rows ?? 0), 0)
  return html`<div class="query-row" id="query-${number}"><details><summary class="cells"><span class="number muted">${queries.length > 1 ? `${number}${between}${last}` : number}</span><span class="number">${isOver ? formatMilliseconds(duration) : '–'}</span><span class="number muted only-wide">${formatShare(duration, whole)}</span>${renderSpread(queries, longest)}<span class="number only-wide">${rows}</span>${isSized && html`<span class="number only-wide">${kilobytes(queries)}</span>`}<span class="cut">${queries.length > 1 && html`<b${isRepeated && html` class="warning"`}>${queries.length} ×</b> `}${error != null && html`${renderBadge('failed', 'error')} `}${!isOver && html`${renderBadge(isSent ? 'unfinished' : 'not sent', 'warning')} `}${queries.some(({ isLate }) => isLate) && html`${renderBadge('after the response')} `}${waited >= waitedFrom && html`<span class="muted">waited ${queries.length > 1 && 'up to '}${formatDuration(waited)}</span> `}<code>${highlightSql(first.sql.slice(0, STATEMENT_LENGTH))}</code>${error != null && html`<span class="error only-wide"><br>${error.slice(0, STATEMENT_LENGTH)}</span>`}</span></summary>
${renderQueryBody(group, context)}</details><span class="at cut">${first.location === null ? html`<span class="place muted" title="${noPlace}">library</span>` : renderLocation(first.location, context)}</span></div>`
}

/** A tick for the duration of each query, and a longer one for their median. */
function renderSpread(queries: readonly Query[], longest: number): Markup {
  const each = queries.flatMap(({ duration }) => duration ?? []).sort((one, other) => one - other)
  const median = each.length > 1 ? each[Math.floor(each.length / 2)] : undefined
  const tick = (ms: number, name: string, top: number) =>
    html`<line class="${name}" x1="${percent(ms, longest * 1.02)}" x2="${percent(ms, longest * 1.02)}" y1="${top}" y2="${16 - top}"/>`
  return html`<svg class="spread only-wide" width="100%" height="16" aria-hidden="true"><line class="base" x1="0%" x2="100%" y1="8" y2="8"/>${each.slice(0, ticksShown).map(ms => tick(ms, 'each', 3))}${median !== undefined && tick(median, 'median', 0)}</svg>`
}

/** What is wrong with the end of a query, other than an error. */
function endText({ duration, unsent }: Query): string | null {
  if (duration !== null) return unsent ? 'Not sent: it got no connection.' : null
  const state = unsent ? 'waiting for a connection' : 'still running, or waiting for a connection'
  return `Unfinished when the profile was made: ${state}.`
}

function renderQueryBody({ first, number, queries }: QueryGroup, context: ViewContext): Markup {
  const errors = [...new Set(queries.flatMap(({ error }) => error ?? []))]
  const ends = [...new Set(queries.flatMap(query => endText(query) ?? []))]
  const given = queries.filter(({ parameters }) => parameters.length > 0)
  return html`<div class="query-body">${errors.map(error => html`<p>${renderBadge('failed', 'error')} ${error}</p>`)}${ends.map(end => html`<p>${renderBadge(end, 'warning')}</p>`)}
${renderSqlBlock(first.sql)}
${given.length > 0 && html`<ol>${given.slice(0, parametersShown).map(query => html`<li><code>${parametersText(query).slice(0, longestParameters)}</code></li>`)}</ol>`}${given.length > parametersShown && html`<p class="muted">and ${given.length - parametersShown} more</p>`}
<p class="muted">${waitSentences(queries)}</p>
<div class="chips"><button type="button" data-copy-text="${first.sql}" hidden>Copy SQL</button><button type="button" data-copy-text="${runnableSql(first)}" hidden>Copy runnable SQL</button>${features.map(({ forQuery }) => forQuery?.(first, number, context))}</div></div>`
}

/** A statement with its parameters in place, to run by hand. What was masked or left out is named in a comment. */
export function runnableSql({ sql, parameters }: Pick<Query, 'sql' | 'parameters'>): string {
  let place = 0
  return sql.replace(/'(?:''|[^'])*'|"(?:""|[^"])*"|\$(\d+)|\?/g, (text, digits?: string) => {
    if (text !== '?' && digits === undefined) return text
    const index = digits === undefined ? place++ : Number(digits) - 1
    const parameter = parameters[index]
    return parameter === undefined ? text : literal(parameter, index + 1)
  })
}

function literal(parameter: Json, number: number): string {
  if (parameter === null || typeof parameter === 'number' || typeof parameter === 'boolean') return String(parameter)
  if (typeof parameter === 'string' && parameter.includes(masked)) return `null /* parameter ${number} is masked */`
  const text = typeof parameter === 'string' ? parameter : JSON.stringify(parameter)
  return `'${text.replaceAll("'", "''")}'`
}

/** The longest wait of some queries, and the longest time in which one could not be answered. */
function waitSentences(queries: readonly Query[]): string {
  const waited = Math.max(...queries.map(query => query.waited))
  const blocked = Math.max(...queries.map(query => query.blocked))
  const meanwhile = blocked > 0 ? ` The event loop was blocked for ${formatDuration(blocked)} meanwhile.` : ''
  return `Waited at most ${formatDuration(waited)} for a connection.${meanwhile}`
}

/** $1 = "localhost", $2 = 1, or without the names that only PostgreSQL has. */
function parametersText({ parameters, system }: Pick<Query, 'parameters' | 'system'>): string {
  const name = (index: number) => (system === 'postgresql' ? `$${index + 1} = ` : '')
  return parameters.map((parameter, index) => name(index) + JSON.stringify(parameter)).join(', ')
}

/** Every query: SQL, parameters, caller, duration, wait for a connection, rows. */
export const databasePanel: BuiltInPanel<DatabaseUse> = {
  name: 'database',
  label: 'Database',
  read: ({ database }) => database,
  badge: callsBadge,
  toolbarItem: (data, context) => callsItem('Queries', data, queryCard(data, context)),
  view(data, context) {
    const { count, queries, repetitions, statements = [] } = data
    return [
      totals(data, context.profile.duration),
      { findings: repetitions.map(repetitionFinding) },
      queries.length < count && {
        notice: `Listed are the first ${queries.length} of ${counted(count, 'query', 'queries')}. The totals include all of them.`,
      },
      statements.length > 0 && statementTable(statements),
      { html: renderQueries(data, context), markdown: blocksMarkdown([queryTable(queries)], context.root) },
    ]
  },
}

/** The totals of each statement, for more queries than are listed. */
function statementTable(statements: readonly StatementTotals[]): Block {
  return {
    title: 'By statement, most time first',
    columns: [
      { label: 'Queries', kind: 'number' },
      { label: 'ms, one after another', kind: 'number' },
      { label: 'Statement' },
    ],
    rows: statements.map(({ count, duration, sql }) => [
      count.toLocaleString('en'),
      formatNumber(duration),
      { code: sql },
    ]),
  }
}

function totals({ count, duration, failed, rows, shapes, transactions, waited }: DatabaseUse, whole: number): Block {
  return {
    metrics: [
      [
        count === 1 ? 'query' : 'queries',
        count.toLocaleString('en'),
        `of ${counted(shapes, 'shape')}${failed > 0 ? `, ${failed} failed` : ''}`,
      ],
      shareOfRequest(duration, whole),
      ['longest wait for a connection', waited > 0 ? formatDuration(waited) : null],
      ['rows read or changed', rows.toLocaleString('en')],
      [transactions === 1 ? 'transaction' : 'transactions', transactions || null],
    ],
  }
}

function repetitionFinding(repetition: Repetition): Finding {
  const [what, remedy] = repetitionTexts(repetition)
  return {
    tone: 'warning',
    claim: `${what}, ${repetitionTime(repetition)}.`,
    // A page marks its row in the list.
    detail: [remedy, { html: html``, markdown: ` ${code(repetition.sql)}` }],
    places: repetition.locations,
  }
}

function renderQueries(data: DatabaseUse, context: ViewContext): Markup {
  const order = context.query?.get('order') === 'time' ? 'time' : 'sent'
  return html`<section aria-labelledby="queries"${data.queries.some(isSized) && html` class="sized"`}><div class="head"><h2 id="queries">Queries <small>one row a statement and line, a tick a query, the long one their median; ${order === 'sent' ? 'in the order they were sent' : 'slowest first'}</small></h2>${context.isFile !== true && html`<nav class="right chips" aria-label="Order">${renderOrder('sent', 'As sent', order, context)}${renderOrder('time', 'Slowest first', order, context)}</nav>`}</div>
${renderQueryList(data, context, order)}</section>`
}

function renderOrder(order: string, label: string, current: string, { base, profile }: ViewContext) {
  return html`<a class="chip" href="${profileUrl(base, profile.token, 'database')}&amp;order=${order}"${order === current && html` aria-current="true"`}>${label}</a>`
}

/** The list for Markdown, with a row for each query. The page's columns are in renderQueryList and renderRow. */
function queryTable(queries: readonly Query[]): Block {
  const areSized = queries.some(isSized)
  return {
    section: 'Queries',
    blocks: [
      {
        title: 'Queries',
        columns: [
          'No.',
          'Duration',
          'Wait for connection',
          'Loop blocked',
          'Rows',
          ...(areSized ? ['kB'] : []),
          'Query',
          'Parameters',
          'Called from',
        ].map(label => ({
          label,
        })),
        rows: queries.map((query, index) => {
          const { blocked, bytes, duration, waited, rows, sql, parameters, error, isLate, location, unsent } = query
          const end = endText(query)
          return [
            index + 1,
            duration === null || unsent ? null : formatDuration(duration),
            waited > 0 ? formatDuration(waited) : null,
            blocked > 0 ? formatDuration(blocked) : null,
            rows,
            ...(areSized ? [kilobytes([{ bytes }])] : []),
            [
              { code: sql },
              isLate ? ' after the response' : null,
              end === null ? null : ` ${end}`,
              error === null ? null : ` failed: ${error}`,
            ],
            parameters.length === 0 ? null : { code: parametersText(query) },
            location === null ? null : { place: location },
          ]
        }),
      },
    ],
  }
}
