import type { FastifyRequest } from 'fastify'
import { readSearch, type Search } from '../../store/search-criteria.ts'
import type { SearchBarOptions } from '../parts/search-bar.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'

/** The search that a request's query describes. */
export function searchOf(request: FastifyRequest, { labels, panels }: PageSources): Search {
  return readSearch(queryOf(request), { labels, panels: panels.map(({ name }) => name) })
}

/** The search form of a page that shows a search. */
export function searchBarOptions({ panel }: Search, { base, labels }: PageSources): SearchBarOptions {
  return { base, labels, ...(panel !== null && { panel }) }
}
