import { explainQuery } from '../explain/explain-query.ts'
import { NoPlan } from '../explain/no-plan.ts'
import { renderExplainMarkdown } from '../show/pages/explain-page.ts'
import { answerText } from './answer-text.ts'
import type { Question } from './question.ts'
import { findProfile, missingProfile, refusal } from './stored-profile.ts'

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
      recorded: renderExplainMarkdown(explained, query),
      from: number('from') ?? 0,
      more: (line: number) => ({ tool: 'explain', arguments: { ...given, token: profile.token, from: line } }),
    }
    const lead = `# ${failed ? 'No plan' : 'The plan'} of query ${wanted}`
    const data = failed ? { error: explained.message } : explained
    return { text: answerText(lead, [section], [], tokens), data, failed }
  },
}
