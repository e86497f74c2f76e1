import { html, type Markup } from '../../base/html.ts'
import type { Query } from '../../base/profile.ts'
import type { ViewContext } from '../../collect/panel.ts'
import type { Explanation } from '../../explain/explain-query.ts'
import { NoPlan } from '../../explain/no-plan.ts'
import type { PlanNode } from '../../explain/plan.ts'
import type { Verdict } from '../../explain/plan-verdicts.ts'
import { blocks, code, codeBlock, plain, table } from '../markdown/markdown.ts'
import { renderSqlBlock } from '../parts/code-block.ts'
import { renderDataTable } from '../parts/data-table.ts'
import { explainUrl } from '../parts/explain-form.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { renderSeverity } from '../parts/severity.ts'
import { alignNumber, formatDuration } from '../parts/units.ts'
import { renderPage } from './page.ts'

/** How a plan was made. */
const origins: Record<Explanation['plan'], string> = {
  values: 'Planned for its values, without running it.',
  generic: 'Planned for any values, because some are masked or were not kept. It was not run.',
  run: 'Run again, in a read-only transaction that was rolled back.',
}

const warning =
  'Runs it in a read-only transaction that is rolled back. Functions can act outside of that transaction: ' +
  'what dblink_exec changes stays changed.'

/** What the database says about a query of a profile. `canRun`: offers to run it. */
export function renderExplainPage(
  explained: Explanation | NoPlan,
  query: Query,
  number: string,
  canRun: boolean,
  { profile: { method, token, url }, base }: ViewContext,
): string {
  return renderPage({
    title: `Plan of query ${number} · ${method} ${url.slice(0, 80)}`,
    base,
    panel: 'database',
    main: html`<h1>Plan of query ${number}</h1>
<p><a href="${profileUrl(base, token, 'database')}#query-${number}">Back to ${method} ${url.slice(0, 200)}</a></p>
${explained instanceof NoPlan ? html`<p class="notice warning">${explained.message}</p>` : renderVerdicts(explained)}
${renderSqlBlock(query.sql)}
${explained instanceof NoPlan ? '' : renderPlan(explained.nodes)}
${canRun && html`<form method="post" action="${explainUrl(base, token, number)}?run"><button type="submit">Analyze (runs the query)</button> <small class="muted">${warning}</small></form>`}`,
  })
}

function renderVerdicts({ plan, verdicts }: Explanation): Markup {
  return html`<ul class="findings">${verdicts.map(renderVerdict)}</ul>
<p class="muted">${origins[plan]}</p>`
}

function renderVerdict({ tone, claim, remedy, sql }: Verdict): Markup {
  return html`
<li>${renderSeverity(tone)}<p><b>${claim}</b> ${remedy}${sql !== null && html` <code>${sql}</code>`}</p></li>`
}

function renderPlan(nodes: readonly PlanNode[]): Markup {
  const hasRun = nodes.some(({ actual }) => actual !== null)
  return renderDataTable(
    'Plan',
    [
      { label: 'Step' },
      { label: 'Rows expected', kind: 'number' },
      ...(hasRun
        ? ([
            { label: 'Rows', kind: 'number' },
            { label: 'ms', kind: 'number' },
          ] as const)
        : []),
    ],
    nodes.map(node => ({
      cells: [
        html`<span class="depth-${Math.min(node.depth, 6)}">${stepText(node)}</span>`,
        rowsText(node.expected),
        ...(hasRun ? [rowsText(node.actual), node.time === null ? '' : alignNumber(node.time)] : []),
      ],
    })),
  )
}

/** Seq Scan on carts, filter (user_id = 12) */
function stepText({ type, index, relation, filter }: PlanNode): string {
  const using = index === null ? '' : ` using ${index}`
  const on = relation === null ? '' : ` on ${relation}`
  return `${type}${using}${on}${filter === null ? '' : `, filter ${filter}`}`
}

function rowsText(rows: number | null): string {
  return rows === null ? '' : Math.round(rows).toLocaleString('en')
}

/** The same as Markdown. */
export function renderExplainMarkdown(explained: Explanation | NoPlan, query: Query): string {
  const sql = codeBlock(query.sql, 'sql')
  if (explained instanceof NoPlan) return `${blocks('# No plan', plain(explained.message), sql)}\n`
  const { nodes, plan, verdicts } = explained
  return `${blocks(
    '# Plan',
    verdicts
      .map(({ claim, remedy, sql }) => `- ${plain(claim)} ${plain(remedy)}${sql === null ? '' : ` ${code(sql)}`}`)
      .join('\n'),
    origins[plan],
    sql,
    table(
      ['Step', 'Rows expected', 'Rows', 'Time'],
      nodes.map(node => [
        plain(`${'· '.repeat(node.depth)}${stepText(node)}`),
        rowsText(node.expected),
        rowsText(node.actual),
        node.time === null ? '' : formatDuration(node.time),
      ]),
    ),
  )}\n`
}
