import { sortOrders } from '../base/summary.ts'
import { renderSearchMarkdown } from '../show/markdown/search-markdown.ts'
import { count } from '../show/parts/units.ts'
import { readSearch } from '../store/search-criteria.ts'
import { answerText, callText } from './answer-text.ts'
import type { Question } from './question.ts'
import { moreTokens } from './read-arguments.ts'

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
        'statement:"from carts" since:2026-11-22T09:30Z until: parent: host: ip: token:. Default: everything.',
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
