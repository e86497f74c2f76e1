import type { FastifyInstance } from 'fastify'
import type { ViewContext } from '../../core/panel.ts'
import type { Query } from '../../core/profile.ts'
import { type Block, blocksHtml, blocksMarkdown, type Inline } from '../../core/view/block.ts'
import { html } from '../../core/view/html.ts'
import { plain } from '../../core/view/markdown.ts'
import { isSameOrigin, queryOf } from '../../core/view/page-guard.ts'
import type { PageSources } from '../../core/feature.ts'
import { renderPage } from '../../core/view/page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { alignNumber } from '../../core/view/units.ts'
import { profileUrl } from '../../core/view/urls.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { explainUrl } from './explain-form.ts'
import { canRunAgain, explainQuery, type Explanation, NoPlan } from './explain-query.ts'
import type { PlanNode } from './plan.ts'

/** How a plan was made. */
const origins: Record<Explanation['plan'], string> = {
  values: 'Planned for its values, without running it.',
  generic: 'Planned for any values, because some are masked or were not kept. It was not run.',
  run: 'Run again, in a read-only transaction that was rolled back.',
}

const warning =
  'Runs it in a read-only transaction that is rolled back. Functions can act outside of that transaction: ' +
  'what dblink_exec changes stays changed.'

/** What the database says about a query: the verdicts, the statement, and the plan. */
export function explainBlocks(explained: Explanation | NoPlan, { sql }: Pick<Query, 'sql'>): Block[] {
  const statement: Block = { source: sql, language: 'sql' }
  if (explained instanceof NoPlan) return [{ notice: explained.message, tone: 'warning' }, statement]
  const { nodes, plan, verdicts } = explained
  return [
    {
      findings: verdicts.map(({ tone, claim, remedy, sql }) => ({
        tone,
        claim,
        detail: [remedy, sql === null ? null : [' ', { code: sql }]],
      })),
    },
    { text: origins[plan], look: 'muted' },
    statement,
    planTable(nodes),
  ]
}

/** The page of a plan. `canRun`: offers to run the query. */
export function renderExplainPage(
  explained: Explanation | NoPlan,
  query: Query,
  number: string,
  canRun: boolean,
  context: ViewContext,
): string {
  const { base, profile } = context
  const { method, token, url } = profile
  return renderPage({
    title: `Plan of query ${number} · ${method} ${url.slice(0, 80)}`,
    base,
    panel: 'database',
    main: html`<h1>Plan of query ${number}</h1>
<p><a href="${profileUrl(base, token, 'database')}#query-${number}">Back to ${method} ${url.slice(0, 200)}</a></p>
${blocksHtml(explainBlocks(explained, query), context)}
${canRun && html`<form method="post" action="${explainUrl(base, token, number)}?run"><button type="submit">Analyze (runs the query)</button> <small class="muted">${warning}</small></form>`}`,
  })
}

function planTable(nodes: readonly PlanNode[]): Block {
  const hasRun = nodes.some(({ actual }) => actual !== null)
  const ran = [
    { label: 'Rows', kind: 'number' },
    { label: 'ms', kind: 'number' },
  ] as const
  return {
    title: 'Plan',
    columns: [{ label: 'Step' }, { label: 'Rows expected', kind: 'number' }, ...(hasRun ? ran : [])],
    rows: nodes.map((node): Inline[] => [
      stepCell(node),
      rowsText(node.expected),
      ...(hasRun ? [rowsText(node.actual), node.time === null ? null : alignNumber(node.time)] : []),
    ]),
  }
}

/** A step is indented by its depth. */
function stepCell(node: PlanNode): Inline {
  const text = stepText(node)
  return {
    html: html`<span class="depth-${Math.min(node.depth, 6)}">${text}</span>`,
    markdown: plain(`${'· '.repeat(node.depth)}${text}`),
  }
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
        markdown: () => {
          const section = explained instanceof NoPlan ? 'No plan' : 'Plan'
          return `${blocksMarkdown([{ section, blocks: explainBlocks(explained, query) }], context.root, 1)}\n`
        },
      })
    },
  )
}
