import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SearchCriteria } from '../../base/summary.ts'
import type { Period, Search } from '../../store/search-criteria.ts'
import { renderSearchMarkdown } from '../markdown/search-markdown.ts'
import { isSearch, renderSearchPage, type HomeOverview } from '../pages/search-page.ts'
import { profileUrl } from '../parts/profile-url.ts'
import type { PageSources } from './page-sources.ts'
import { searchBarOptions, searchOf } from './search-of.ts'
import { sendFormats } from './send-formats.ts'

/** Answers with the requests that the query describes: without one, with the newest. */
export async function showSearch(
  request: FastifyRequest,
  reply: FastifyReply,
  sources: PageSources,
): Promise<FastifyReply> {
  const { archive, base } = sources
  const search = searchOf(request, sources)
  const { criteria, problems, panel } = search
  const token = tokenAlone(search)
  if (token !== null && (await archive.find(token)) !== null) {
    return reply.redirect(profileUrl(base, token, panel ?? undefined), 302)
  }
  const found = await archive.search(criteria)
  const result = { ...found, problems: [...problems, ...found.problems] }
  return sendFormats(request, reply, {
    html: () => renderSearchPage(result, searchBarOptions(search, sources), homeOf(search, sources)),
    json: () => result,
    markdown: () => renderSearchMarkdown(result, base),
  })
}

/** The token of a search for nothing else, which opens its profile; null otherwise. */
function tokenAlone({ criteria, problems }: Search): string | null {
  const { token, ...others }: SearchCriteria = criteria
  return token !== undefined && Object.keys(others).length === 0 && problems.length === 0 ? token : null
}

const minute = 60_000
const lengths: Record<Period, number> = { '15min': 15 * minute, '1h': 60 * minute, all: Infinity }

/** The overview of the home page; null for a search and for later pages. Without recent requests it is about all. */
function homeOf({ criteria, period }: Search, { archive }: PageSources): HomeOverview | null {
  if (isSearch(criteria) || (criteria.page ?? 1) > 1) return null
  const since = (period: Period) => archive.overview(Date.now() - lengths[period])
  const overview = since(period ?? '15min')
  if (period !== null || overview.requests > 0) return { overview, period: period ?? '15min' }
  return { overview: since('all'), period: 'all' }
}
