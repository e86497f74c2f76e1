import type { FastifyInstance } from 'fastify'
import { othersLike, requestsAround } from '../../core/store/like-requests.ts'
import { readSearch } from '../../core/store/search-criteria.ts'
import { html } from '../../core/view/html.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import type { PageSources, ProfileAction } from '../../core/feature.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { comparisonUrl } from '../../core/view/urls.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { compareSets, renderSetComparisonMarkdown, renderSetComparisonPage, setSentence } from './compare-sets.ts'
import { compare } from './compare.ts'
import { renderComparisonMarkdown, renderComparisonPage } from './comparison-page.ts'
import { comparisonSentence, conclusionsOf } from './comparison-text.ts'

/** Leads to the comparison with the request that this one repeats, or with the previous one of its route. */
export const compareAction: ProfileAction = ({ isReplay, parent, token }, base, { previousOfRoute }) => {
  const [compared, label] =
    isReplay === true ? [parent, 'the original'] : [previousOfRoute, 'the previous of this route']
  return (
    compared !== null &&
    html`<a class="button" href="${comparisonUrl(base, compared, token)}">Compare with ${label}</a>`
  )
}

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
      markdown: () => renderComparisonMarkdown(comparison, context),
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
      markdown: () => renderSetComparisonMarkdown(comparison, base),
    })
  })
}

/** The method and the moment of a query, as a search understands them. */
function periodOf(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams({ method: query.get('method') ?? '', timeFrom: query.get('at') ?? '' })
}
