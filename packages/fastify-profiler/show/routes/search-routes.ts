import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { html } from '../../base/html.ts'
import { blocks, codeBlock, plain } from '../markdown/markdown.ts'
import { linkStylesheet, renderDocument } from '../pages/document.ts'
import { assetUrl } from '../parts/assets.ts'
import { renderProblems } from '../parts/problems.ts'
import { renderSearchBar } from '../parts/search-bar.ts'
import type { PageSources } from './page-sources.ts'
import { searchBarOptions, searchOf } from './search-of.ts'
import { sendFormats } from './send-formats.ts'
import { showSearch } from './show-search.ts'

/** The list of requests, and the form that searches it. */
export function searchRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base, labels } = sources

  app.get(base, showRequests)
  app.get(`${base}/search`, showRequests)

  async function showRequests(request: FastifyRequest, reply: FastifyReply) {
    return showSearch(request, reply, sources)
  }

  app.get(`${base}/search_bar`, async function showSearchBar(request, reply) {
    const search = searchOf(request, sources)
    const { criteria, problems } = search
    return sendFormats(request, reply, {
      html: () =>
        renderDocument({
          title: 'Search · Profiler',
          className: 'part',
          style: linkStylesheet(assetUrl(base, 'profiler.css')),
          body: html`<main><h1>Search requests</h1>
${renderProblems(problems)}
${renderSearchBar(criteria, searchBarOptions(search, sources))}</main>`,
        }),
      json: () => ({ criteria, problems, labels }),
      markdown: () => `${blocks(...problems.map(plain), codeBlock(JSON.stringify(criteria, null, 2), 'json'))}\n`,
    })
  })
}
