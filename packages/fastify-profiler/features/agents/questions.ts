import { othersLike, previousRequest, requestsAround } from '../../core/store/like-requests.ts'
import { readSearch } from '../../core/store/search-criteria.ts'
import { sortOrders } from '../../core/summary.ts'
import { type Block, blocksMarkdown } from '../../core/view/block.ts'
import { count, formatDuration } from '../../core/view/units.ts'
import { compareSets, renderSetComparisonMarkdown, setSentence } from '../compare/compare-sets.ts'
import { compare } from '../compare/compare.ts'
import { renderComparisonMarkdown } from '../compare/comparison-page.ts'
import { comparisonSentence, conclusionsOf } from '../compare/comparison-text.ts'
import { explainBlocks } from '../explain/explain-page.ts'
import { explainQuery, NoPlan } from '../explain/explain-query.ts'
import { exceptionTable, routeTable, statementTable, troublesLately } from '../home/lately.ts'
import { renderSearchMarkdown } from '../home/search-page.ts'
import { routeList } from '../routing/routing-panel.ts'
import { profileQuestion } from './ask-profile.ts'
import {
  type Answer,
  answerText,
  type Arguments,
  type AskedSources,
  callText,
  findProfile,
  missingProfile,
  moreTokens,
  type Question,
  readArguments,
  refusal,
  type Section,
  tokenIn,
} from './question.ts'

/** Two requests, or a route before a moment and since. */
export const compareQuestion: Question = {
  name: 'compare',
  title: 'Compare requests',
  description:
    'Call after a change to see whether it helped: b is the token of a request since, a of one before (default: from ' +
    'before the last start). Or route and at, for all requests of a route before a moment and since. Says how sure ' +
    'it is: certain, seen (too few requests to tell) or equal.',
  parameters: {
    b: { type: 'string', description: 'The token of the later request, or "latest".' },
    a: {
      type: 'string',
      description: 'The token of the earlier request. Default: the newest of the route from before the last start.',
    },
    route: { type: 'string', description: 'The pattern of a route, instead of a and b: /carts/:id.' },
    method: { type: 'string', description: 'The method of the route. Default: GET.' },
    at: { type: 'string', description: 'The moment, such as 2026-11-22T09:30Z, with route.' },
    from: { type: 'integer', description: 'The line of the comparison to go on at. Default: 0.', minimum: 0 },
  },
  required: [],
  async answer(asked, sources) {
    const route = asked.text('route')
    if (route !== null) return compareRoute(route, asked, sources)
    const b = asked.text('b')
    return b === null
      ? refusal('compare needs b, the token of a request, or route and at.')
      : compareTwo(b, asked, sources)
  },
}

async function compareTwo(tokenOfB: string, asked: Arguments, sources: AskedSources): Promise<Answer> {
  const { archive } = sources
  const b = await findProfile(tokenOfB, sources)
  if (b === null) return missingProfile('b', asked, sources)
  const tokenOfA = asked.text('a') ?? (await previousRequest(archive, b))?.token ?? null
  if (tokenOfA === null) return refusal('There is no earlier request of this route. Name one as a.')
  const a = await archive.find(tokenIn(tokenOfA))
  if (a === null) return missingProfile('a', asked, sources)
  const comparison = compare(a, b, await othersLike(archive, a, b))
  const sentence = comparisonSentence(comparison)
  const data = { sentence, conclusions: conclusionsOf(comparison), ...comparison }
  return {
    text: framed(sentence, renderComparisonMarkdown(comparison, sources.viewContext(b)), asked, {
      a: a.token,
      b: b.token,
    }),
    data,
  }
}

async function compareRoute(route: string, asked: Arguments, { archive, base }: AskedSources): Promise<Answer> {
  const query = new URLSearchParams({ method: asked.text('method') ?? 'GET', timeFrom: asked.text('at') ?? '' })
  const { method, timeFrom: at } = readSearch(query, { labels: [], panels: [] }).criteria
  if (method === undefined || at === undefined) {
    return refusal('compare needs at, an ISO 8601 time such as 2026-11-22T09:30Z, and a known method.')
  }
  const comparison = compareSets({ method, route, at }, await requestsAround(archive, { method, route }, at))
  const sentence = setSentence(comparison)
  return {
    text: framed(sentence, renderSetComparisonMarkdown(comparison, base), asked, asked.given),
    data: { sentence, ...comparison },
  }
}

function framed(sentence: string, recorded: string, { given, number, tokens }: Arguments, fixed: object): string {
  const more = (line: number) => ({ tool: 'compare', arguments: { ...given, ...fixed, from: line } })
  return answerText(
    `# ${sentence}`,
    [{ heading: 'What changed', recorded, from: number('from') ?? 0, more }],
    [],
    tokens,
  )
}

/** The plan of a stored query. Plans only: nothing is run. */
export const explainQuestion: Question = {
  name: 'explain',
  title: 'Plan of a query',
  description:
    'Call when one query of a request is slow: tells in words what its PostgreSQL plan does wrong, such as a missing ' +
    'index, with the statement that would help. Plans the stored query without running it. Needs the running ' +
    'application and its option explainPool.',
  parameters: {
    token: { type: 'string', description: 'The token of the request, or "latest".' },
    query: { type: 'integer', description: 'The number of the query on the panel database, from 1.', minimum: 1 },
    from: { type: 'integer', description: 'The line of the answer to go on at. Default: 0.', minimum: 0 },
  },
  required: ['token', 'query'],
  async answer(asked, sources) {
    const { given, number, text, tokens } = asked
    if (sources.explainPool === null) {
      return refusal('Queries are explained by a running application that has the option explainPool.')
    }
    const profile = await findProfile(text('token') ?? '', sources)
    if (profile === null) return missingProfile('token', asked, sources)
    const queries = profile.database?.queries ?? []
    const wanted = number('query') ?? 0
    const query = queries[wanted - 1]
    if (query === undefined) return refusal(`This request has ${queries.length} stored queries, counted from 1.`)
    const explained = await explainQuery(sources.explainPool, query)
    const failed = explained instanceof NoPlan
    const section = {
      heading: 'Plan',
      recorded: blocksMarkdown(explainBlocks(explained, query), sources.root),
      from: number('from') ?? 0,
      more: (line: number) => ({ tool: 'explain', arguments: { ...given, token: profile.token, from: line } }),
    }
    const lead = `# ${failed ? 'No plan' : 'The plan'} of query ${wanted}`
    const data = failed ? { error: explained.message } : explained
    return { text: answerText(lead, [section], [], tokens), data, failed }
  },
}

const minute = 60_000
const minutesUsual = 15

/** What matters lately. */
export const overviewQuestion: Question = {
  name: 'overview',
  title: 'What matters lately',
  description:
    'Call first, when something is slow or fails and you do not know which request. Tells what went wrong lately by ' +
    'route, exception and SQL shape (failures, N+1, got slower), each with the token of a request to look at.',
  parameters: {
    minutes: {
      type: 'integer',
      description: 'How far back. Default: 15, or everything stored if nothing happened since.',
      minimum: 1,
      maximum: 100_000,
    },
  },
  required: [],
  async answer({ given, number, tokens }, sources) {
    const { base, root } = sources
    const { overview, period } = overviewOf(number('minutes'), sources)
    const { exceptions, failed, p95, refused, requests, routes, statements } = overview
    const more = () => ({ tool: 'overview', arguments: { ...given, max_tokens: moreTokens(tokens) } })
    const troubles = troublesLately(overview, base)
    const part = (heading: string, list: readonly unknown[], block: Block): Section[] =>
      list.length === 0 ? [] : [{ heading, recorded: blocksMarkdown([block], root), more }]
    const sections = [
      ...part('Troubles', troubles, { findings: troubles }),
      ...part('By exception', exceptions, exceptionTable(overview, base)),
      ...part('By route, times in ms', routes, routeTable(routes, base)),
      ...part('By SQL shape, most time first, times in ms', statements, statementTable(overview, base)),
    ]
    const outcomes = `${failed} failed, ${refused} refused, p95 ${formatDuration(p95)}`
    const lead = `# ${count(requests, 'request')} ${period}: ${outcomes}`
    const next = callText({ tool: 'profile', arguments: { token: '…' } })
    return { text: answerText(lead, sections, [`Next: ${next}`], tokens), data: overview }
  },
}

function overviewOf(minutes: number | null, { archive }: AskedSources) {
  const lately = archive.overview(Date.now() - (minutes ?? minutesUsual) * minute)
  if (minutes !== null || lately.requests > 0) {
    return { overview: lately, period: `in the last ${count(minutes ?? minutesUsual, 'minute')}` }
  }
  return { overview: archive.overview(0), period: 'stored' }
}

/** The routes of the application. */
export const routesQuestion: Question = {
  name: 'routes',
  title: 'Routes',
  description:
    'Call to find which file and line handles a path, or why a path is not found: lists the routes of the ' +
    'application with methods, handler and where each was registered.',
  parameters: {
    path: { type: 'string', description: 'Only routes whose pattern or handler contains this text.' },
    from: { type: 'integer', description: 'The line of the list to go on at. Default: 0.', minimum: 0 },
  },
  required: [],
  async answer({ given, number, text, tokens }, { archive, root }) {
    const all = archive.routes()
    if (all === null) return refusal('No routes are stored. The application has not been ready yet.')
    const wanted = (text('path') ?? '').toLowerCase()
    const routes = all.filter(({ handler, url }) => `${url}\n${handler}`.toLowerCase().includes(wanted))
    const section = {
      heading: 'Routes',
      recorded: routes.length === 0 ? 'None.' : blocksMarkdown([routeList(routes)], root),
      from: number('from') ?? 0,
      more: (line: number) => ({ tool: 'routes', arguments: { ...given, from: line } }),
    }
    const lead = `# ${count(routes.length, 'route')}${wanted === '' ? '' : ` of ${all.length}`}`
    return { text: answerText(lead, [section], [], tokens), data: { routes } }
  },
}

/** Rows of a page. Its number does not depend on how long an answer may be, or pages would skip requests. */
const rows = 20

/** Stored requests that match words. */
export const searchQuestion: Question = {
  name: 'search',
  title: 'Search requests',
  description:
    'Call to find requests, newest first: by status, route, URL, exception, duration or number of queries. ' +
    'Answers with their tokens, 20 requests a page. To see what matters without knowing what to look for, call ' +
    'overview instead.',
  parameters: {
    query: {
      type: 'string',
      description:
        'Words of the URL, route or exception, and fields: status:5xx method:POST route:/carts slower:100ms sql:>20 ' +
        'statement:"from carts" failed:query failed:call since:2026-11-22T09:30Z until: parent: host: ip: token:. Default: everything.',
    },
    sort: { type: 'string', description: 'Largest first instead of newest first.', enum: sortOrders },
    page: { type: 'integer', description: 'Default: 1.', minimum: 1, maximum: 100_000 },
  },
  required: [],
  async answer({ given, number, text, tokens }, { archive, base, labels }) {
    const asked = new URLSearchParams({ q: text('query') ?? '', sort: text('sort') ?? '' })
    const { criteria, problems } = readSearch(asked, { labels, panels: [] })
    const found = await archive.search({ ...criteria, perPage: rows, page: number('page') ?? 1 })
    const result = { ...found, problems: [...problems, ...found.problems] }
    const { page, pages, total } = found
    const next = { tool: 'search', arguments: { ...given, page: page + 1 } }
    const section = {
      heading: 'Requests',
      recorded: renderSearchMarkdown(result, base),
      more: () => ({ tool: 'search', arguments: { ...given, max_tokens: moreTokens(tokens) } }),
    }
    const tail = pages > page ? [`${count(pages - page, 'more page')}: ${callText(next)}`] : []
    const lead = `# ${count(total, 'request')} found${pages > 1 ? `, page ${page} of ${pages}` : ''}`
    return { text: answerText(lead, [section], tail, tokens), data: result }
  },
}

/** Everything that can be asked. */
export const questions: readonly Question[] = [
  overviewQuestion,
  searchQuestion,
  profileQuestion,
  compareQuestion,
  explainQuestion,
  routesQuestion,
]

/** Answers a question. Invalid arguments are answered with what is wrong about them. */
export async function ask(question: Question, given: unknown, sources: AskedSources): Promise<Answer> {
  const asked = readArguments(question, given)
  return typeof asked === 'string' ? refusal(asked) : question.answer(asked, sources)
}
