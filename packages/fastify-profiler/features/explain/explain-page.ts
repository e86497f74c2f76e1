import type { FastifyInstance } from 'fastify'
import type { PageSources, Question } from '../../core/feature.ts'
import type { ViewContext } from '../../core/panel.ts'
import type { Query } from '../../core/profile.ts'
import { type Block, blocksHtml, blocksMarkdown, type Inline } from '../../core/view/block.ts'
import { renderIndent } from '../../core/view/elements.ts'
import { type Content, html } from '../../core/view/html.ts'
import { plain } from '../../core/view/markdown.ts'
import { isSameOrigin, queryOf } from '../../core/view/page-guard.ts'
import { renderPage, sendFormats } from '../../core/view/page.ts'
import { alignNumber, formatDuration } from '../../core/view/units.ts'
import { profileUrl, urlPart } from '../../core/urls.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { renderTrack } from '../performance/waterfall.ts'
import { answerText, callText, findProfile, missingProfile, refusal, sectionFrom } from '../home/question.ts'
import { canExplain, canRunAgain, explainQuery, type Explanation, isExplainable, poolFor } from './explain-query.ts'
import { childrenOf, NoPlan, type ShownNode } from './plan.ts'

/** Where the plan of a stored query is asked for, by POST. */
function explainUrl(base: string, token: string, number: number | string): string {
  return `${base}/${urlPart(token)}/queries/${urlPart(String(number))}/explain`
}

export function explainButton(query: Query, number: number, { base, explains, profile }: ViewContext): Content {
  if (explains?.(query.system) !== true || !isExplainable(query)) return null
  return html`<form method="post" action="${explainUrl(base, profile.token, number)}"><button type="submit">Explain</button></form>`
}

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
  const { base, profile, root } = context
  const { method, token, url } = profile
  return renderPage({
    title: `Plan of query ${number} · ${method} ${url.slice(0, 80)}`,
    base,
    root,
    panel: 'database',
    main: html`<h1>Plan of query ${number}</h1>
<p><a href="${profileUrl(base, token, 'database')}#query-${number}">Back to ${method} ${url.slice(0, 200)}</a></p>
${blocksHtml(explainBlocks(explained, query), context)}
${canRun && html`<form method="post" action="${explainUrl(base, token, number)}?run"><button type="submit">Analyze (runs the query)</button> <small class="muted">${warning}</small></form>`}`,
  })
}

function planTable(nodes: readonly ShownNode[]): Block {
  const hasRun = nodes.some(({ actual }) => actual !== null)
  const ran = [
    { label: 'Rows', kind: 'number' },
    { label: 'ms', kind: 'number' },
    { label: 'Own ms', kind: 'number' },
    { label: 'Share', only: 'page' },
  ] as const
  const own = ownTimes(nodes)
  const most = Math.max(...own)
  const whole = own.reduce((sum, time) => sum + time, 0)
  return {
    title: 'Plan',
    columns: [
      { label: 'Step' },
      { label: hasRun ? 'Expected' : 'Rows expected', kind: 'number' },
      ...(hasRun ? ran : []),
    ],
    lines: 'calls plan',
    rows: nodes.map((node, index): Inline[] => [
      stepCell(node),
      rowsText(node.expected),
      ...(hasRun
        ? [rowsText(node.actual), node.time && alignNumber(node.time), ...ownCells(own[index], most, whole)]
        : []),
    ]),
  }
}

const deepestStep = 30

/** The time of each step without those below it. */
function ownTimes(nodes: readonly ShownNode[]): number[] {
  return nodes.map(node => {
    const below = childrenOf(nodes, node).reduce((sum, { time }) => sum + (time ?? 0), 0)
    return Math.max(0, (node.time ?? 0) - below)
  })
}

/** The own time of a step, which is marked if it is the longest, and its bar. */
function ownCells(time = 0, most: number, whole: number): Inline[] {
  const text = alignNumber(time)
  const bar = { html: renderTrack([{ colour: 'sql', start: 0, end: time }], whole), markdown: '' }
  return [time > 0 && time === most ? { strong: text, tone: 'warning' } : text, bar]
}

function stepCell(node: ShownNode): Inline {
  const text = stepText(node)
  return {
    html: html`${renderIndent(node.depth, deepestStep)}${text}`,
    markdown: plain(`${'· '.repeat(node.depth)}${text}`),
  }
}

/** Seq Scan on carts, filter (user_id = 12) */
function stepText({ type, index, relation, filter }: ShownNode): string {
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
      const pool = poolFor(query, explainPool)
      const explained = await explainQuery(pool, query, run)
      const failure = explained instanceof NoPlan ? explained.message : null
      return sendFormats(request, reply, {
        html: () => renderExplainPage(explained, query, number, canRunAgain(pool, query), context),
        json: () => (failure === null ? explained : { error: failure }),
        markdown: () => {
          const section = explained instanceof NoPlan ? 'No plan' : 'Plan'
          return `${blocksMarkdown([{ section, blocks: explainBlocks(explained, query) }], context.root, 1)}\n`
        },
      })
    },
  )
}

/** The plan of a stored query. Runs nothing, unless it is told to. */
export const explainQuestion: Question = {
  name: 'explain',
  title: 'Plan of a query',
  description:
    'Call when one query of a request is slow: tells in words what its plan does wrong, such as a missing index, with ' +
    'the statement that would help (PostgreSQL, MySQL, MariaDB). Plans the stored query without running it, unless ' +
    'run is true. Needs the running application.',
  parameters: {
    token: { type: 'string', description: 'The token of the request, or "latest".' },
    query: { type: 'integer', description: 'The number of the query on the panel database, from 1.', minimum: 1 },
    run: {
      type: 'boolean',
      description: 'Runs a SELECT again, read-only and for 2 s at most: tells the rows and times of each step.',
    },
    from: { type: 'integer', description: 'The line to go on at. Default: 0.', minimum: 0 },
  },
  required: ['token', 'query'],
  command: { name: 'explain', takes: '<token> <query>', says: 'the plan of a query, by its number' },
  next({ database, token }, { explainPool }) {
    const queries = database?.queries ?? []
    const known = queries.filter(query => explainPool !== null && canExplain(explainPool, query))
    const [slowest] = known.sort((one, other) => (other.duration ?? 0) - (one.duration ?? 0))
    if (slowest === undefined) return null
    const call = callText({ tool: 'explain', arguments: { token, query: queries.indexOf(slowest) + 1 } })
    return `Plan of the slowest query (${formatDuration(slowest.duration ?? 0)}): ${call}`
  },
  async answer(asked, sources) {
    const { given, number, text, tokens } = asked
    if (sources.explainPool === null) {
      return refusal('Queries are explained by the running application.')
    }
    const profile = await findProfile(text('token') ?? '', sources)
    if (profile === null) return missingProfile('token', asked, sources)
    const queries = profile.database?.queries ?? []
    const wanted = number('query') ?? 0
    const query = queries[wanted - 1]
    if (query === undefined) return refusal(`This request has ${queries.length} stored queries, counted from 1.`)
    const explained = await explainQuery(poolFor(query, sources.explainPool), query, given.run === true)
    const failed = explained instanceof NoPlan
    const recorded = blocksMarkdown(explainBlocks(explained, query), sources.root)
    const section = sectionFrom('explain', 'Plan', recorded, asked, { token: profile.token })
    const lead = `# ${failed ? 'No plan' : 'The plan'} of query ${wanted}`
    const data = failed ? { error: explained.message } : explained
    return { text: answerText(lead, [section], [], tokens), data, failed }
  },
}
