import type { AskedSources, Question } from '../../core/feature.ts'
import { readSearch } from './search-criteria.ts'
import { sortOrders } from '../../core/summary.ts'
import { type Block, blocksMarkdown } from '../../core/view/block.ts'
import { count, formatDuration } from '../../core/view/units.ts'
import { exceptionTable, routeTable, statementTable, troublesLately } from './lately.ts'
import { answerText, callText, moreTokens, questions, refusal, type Section } from './question.ts'
import { renderSearchMarkdown } from './search-page.ts'
import { overviewOf } from './overview.ts'

const minute = 60_000
const minutesUsual = 15

export const overviewQuestion: Question = {
  name: 'overview',
  title: 'What matters lately',
  description:
    'Call first, when something is slow or fails and you do not know which request. Tells what went wrong lately by ' +
    'route, exception and query (failures, N+1, slow queries, got slower), each with its line and the token of a request to look at.',
  parameters: {
    minutes: {
      type: 'integer',
      description: 'How far back. Default: 15, or everything stored if nothing happened since.',
      minimum: 1,
      maximum: 100_000,
    },
  },
  required: [],
  command: { name: 'overview', takes: '', says: 'what matters lately' },
  async answer({ given, number, tokens }, sources) {
    const { base, root } = sources
    const { overview, period } = await overviewFor(number('minutes'), sources)
    const { exceptions, failed, left, p95, refused, requests, routes, statements } = overview
    const more = () => ({ tool: 'overview', arguments: { ...given, max_tokens: moreTokens(tokens) } })
    const troubles = troublesLately(overview, base)
    const part = (name: string, list: readonly unknown[], block: Block, left = 0): Section[] => {
      const heading = left > 0 ? `${name}, ${left} not listed` : name
      return list.length === 0 ? [] : [{ heading, recorded: blocksMarkdown([block], root), more }]
    }
    const sections = [
      ...part('Troubles', troubles, { findings: troubles }),
      ...questions().flatMap(({ lately, name, title }) => {
        const recorded = lately?.(sources) ?? null
        return recorded === null ? [] : [{ heading: title, recorded, more: () => ({ tool: name, arguments: {} }) }]
      }),
      ...part('By exception', exceptions, exceptionTable(exceptions, base), left.exceptions),
      ...part('By route, times in ms', routes, routeTable(routes, base), left.routes),
      ...part(
        'By query shape, most time first, times in ms',
        statements,
        statementTable(statements, base),
        left.statements,
      ),
    ]
    const outcomes = `: ${failed} failed, ${refused} refused, p95 ${formatDuration(p95)}`
    const lead = `# ${count(requests, 'request')} ${period}${requests === 0 ? '' : outcomes}`
    const next = callText({ tool: 'profile', arguments: { token: '…' } })
    return { text: answerText(lead, sections, [`Next: ${next}`], tokens), data: overview }
  },
}

async function overviewFor(minutes: number | null, { archive }: AskedSources) {
  const summaries = await archive.summaries()
  const lately = overviewOf(summaries, Date.now() - (minutes ?? minutesUsual) * minute)
  if (minutes !== null || lately.requests > 0) {
    return { overview: lately, period: `in the last ${count(minutes ?? minutesUsual, 'minute')}` }
  }
  return { overview: overviewOf(summaries, 0), period: 'stored' }
}

/** Rows of a page. Its number does not depend on how long an answer may be, or pages would skip requests. */
const rows = 20

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
        'statement:"from carts" failed:query failed:call since:2026-11-22T09:30Z until: parent: host: ip: token:. ' +
        'Default: everything.',
    },
    sort: { type: 'string', description: 'Largest first instead of newest first.', enum: sortOrders },
    page: { type: 'integer', description: 'Default: 1.', minimum: 1, maximum: 100_000 },
  },
  required: [],
  command: {
    name: 'list',
    takes: '[words]',
    count: [0, Infinity],
    says: 'requests, newest first: status:5xx failed:query route:/carts slower:100ms',
    operands: words => ({ query: words.length === 0 ? undefined : words.join(' ') }),
  },
  async answer({ given, number, text, tokens }, { archive, base, labels }) {
    const asked = new URLSearchParams({ q: text('query') ?? '', sort: text('sort') ?? '' })
    const { criteria, invalid, problems } = readSearch(asked, { labels, panels: [] })
    if (invalid.length > 0) return refusal(invalid.join(' '))
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
