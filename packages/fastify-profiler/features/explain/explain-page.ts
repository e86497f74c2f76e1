import type { FastifyInstance } from 'fastify'
import type { ViewContext } from '../../core/panel.ts'
import type { Query } from '../../core/profile.ts'
import { renderSqlBlock } from '../../core/view/code-block.ts'
import { renderDataTable, renderSeverity } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, codeBlock, plain, table } from '../../core/view/markdown.ts'
import { isSameOrigin, queryOf } from '../../core/view/page-guard.ts'
import type { PageSources } from '../../core/feature.ts'
import { renderPage } from '../../core/view/page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { alignNumber, formatDuration } from '../../core/view/units.ts'
import { profileUrl } from '../../core/view/urls.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { explainUrl } from './explain-form.ts'
import { canRunAgain, explainQuery, type Explanation, NoPlan } from './explain-query.ts'
import type { PlanNode, Verdict } from './plan.ts'

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

/** Explains a stored query. Takes nothing but its number, so nobody can send a statement. */
export function explainRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, explainPool, viewContext } = sources
  if (explainPool === null) return

  app.post<{ Params: { token: string; number: string } }>(
    `${base}/:token/queries/:number/explain`,
    async function explainStored(request, reply) {
      const { token, number } = request.params
      if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
      const profile = await archive.find(token)
      if (profile === null) return sendUnknown(request, reply, token, sources)
      const query = profile.database?.queries[Number(number) - 1]
      if (query === undefined) return sendMissing(request, reply, { what: 'page', path: request.url }, sources)
      const context = viewContext(profile)
      const run = queryOf(request).has('run')
      const explained = await explainQuery(explainPool, query, run)
      const failure = explained instanceof NoPlan ? explained.message : null
      return sendFormats(request, reply, {
        html: () => renderExplainPage(explained, query, number, canRunAgain(explainPool, query), context),
        json: () => (failure === null ? explained : { error: failure }),
        markdown: () => renderExplainMarkdown(explained, query),
      })
    },
  )
}
