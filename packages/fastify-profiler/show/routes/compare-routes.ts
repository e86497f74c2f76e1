import type { FastifyInstance } from 'fastify'
import { compare } from '../../compare/compare.ts'
import { compareSets } from '../../compare/compare-sets.ts'
import { readSearch } from '../../store/search-criteria.ts'
import { renderComparisonMarkdown } from '../markdown/comparison-markdown.ts'
import { renderSetComparisonMarkdown } from '../markdown/set-comparison-markdown.ts'
import { renderComparisonPage } from '../pages/comparison-page.ts'
import { renderSetComparisonPage } from '../pages/set-comparison-page.ts'
import { comparisonSentence, conclusionsOf } from '../parts/comparison-text.ts'
import { comparisonUrl } from '../parts/profile-url.ts'
import { setSentence } from '../parts/set-comparison-text.ts'
import { othersLike, requestsAround } from './like-requests.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'
import { sendFormats } from './send-formats.ts'
import { sendMissing, sendUnknown } from './send-missing.ts'

/** The comparison of two requests, and that of a route before a moment and since. */
export function compareRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, viewContext } = sources

  app.get<{ Params: { a: string; b: string } }>(`${base}/compare/:a/:b`, async function showComparison(request, reply) {
    const { params } = request
    const [a, b] = [await archive.find(params.a), await archive.find(params.b)]
    if (a === null || b === null) return sendUnknown(request, reply, a === null ? params.a : params.b, sources)
    const comparison = compare(a, b, await othersLike(archive, a, b))
    const context = viewContext(b)
    return sendFormats(request, reply, {
      html: () => renderComparisonPage(comparison, context),
      json: () => ({
        sentence: comparisonSentence(comparison),
        conclusions: conclusionsOf(comparison),
        ...comparison,
      }),
      markdown: () => renderComparisonMarkdown(comparison, context.root),
    })
  })

  app.get(`${base}/compare`, async function showSets(request, reply) {
    const query = queryOf(request)
    const [one, other, ...more] = query.getAll('request')
    if (one !== undefined && other !== undefined && more.length === 0) {
      // The list has the newest first.
      return reply.redirect(comparisonUrl(base, other, one), 302)
    }
    const route = query.get('route')
    const { criteria } = readSearch(periodOf(query), { labels: [], panels: [] })
    const { method = 'GET', timeFrom: at } = criteria
    if (route === null || at === undefined) return sendMissing(request, reply, { what: 'pair' }, sources)
    const comparison = compareSets({ method, route, at }, await requestsAround(archive, { method, route }, at))
    return sendFormats(request, reply, {
      html: () => renderSetComparisonPage(comparison, base),
      json: () => ({ sentence: setSentence(comparison), ...comparison }),
      markdown: () => renderSetComparisonMarkdown(comparison),
    })
  })
}

/** The method and the moment of a query, as a search understands them. */
function periodOf(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams({ method: query.get('method') ?? '', timeFrom: query.get('at') ?? '' })
}
