import { compareSets } from '../compare/compare-sets.ts'
import { compare } from '../compare/compare.ts'
import { renderComparisonMarkdown } from '../show/markdown/comparison-markdown.ts'
import { renderSetComparisonMarkdown } from '../show/markdown/set-comparison-markdown.ts'
import { comparisonSentence, conclusionsOf } from '../show/parts/comparison-text.ts'
import { setSentence } from '../show/parts/set-comparison-text.ts'
import { othersLike, previousRequest, requestsAround } from '../show/routes/like-requests.ts'
import { readSearch } from '../store/search-criteria.ts'
import { answerText } from './answer-text.ts'
import type { Answer, Arguments, AskedSources, Question } from './question.ts'
import { findProfile, missingProfile, refusal, tokenIn } from './stored-profile.ts'

/** Two requests, or a route before a moment and since. */
export const compareQuestion: Question = {
  name: 'compare',
  title: 'Compare requests',
  description:
    'Call after a change to see whether it helped: b is the token of a request since, a of one before (default: the ' +
    'previous of its route). Or route and at, for all requests of a route before a moment and since. Tells which ' +
    'differences are mere noise.',
  parameters: {
    b: { type: 'string', description: 'The token of the later request, or "latest".' },
    a: { type: 'string', description: 'The token of the earlier request. Default: the previous one of the route.' },
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
  const { archive, root } = sources
  const b = await findProfile(tokenOfB, sources)
  if (b === null) return missingProfile('b', asked, sources)
  const tokenOfA = asked.text('a') ?? (await previousRequest(archive, b))?.token ?? null
  if (tokenOfA === null) return refusal('There is no earlier request of this route. Name one as a.')
  const a = await archive.find(tokenIn(tokenOfA))
  if (a === null) return missingProfile('a', asked, sources)
  const comparison = compare(a, b, await othersLike(archive, a, b))
  const sentence = comparisonSentence(comparison)
  const data = { sentence, conclusions: conclusionsOf(comparison), ...comparison }
  return { text: framed(sentence, renderComparisonMarkdown(comparison, root), asked, { a: a.token, b: b.token }), data }
}

async function compareRoute(route: string, asked: Arguments, { archive }: AskedSources): Promise<Answer> {
  const query = new URLSearchParams({ method: asked.text('method') ?? 'GET', timeFrom: asked.text('at') ?? '' })
  const { method, timeFrom: at } = readSearch(query, { labels: [], panels: [] }).criteria
  if (method === undefined || at === undefined) {
    return refusal('compare needs at, an ISO 8601 time such as 2026-11-22T09:30Z, and a known method.')
  }
  const comparison = compareSets({ method, route, at }, await requestsAround(archive, { method, route }, at))
  const sentence = setSentence(comparison)
  return {
    text: framed(sentence, renderSetComparisonMarkdown(comparison), asked, asked.given),
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
