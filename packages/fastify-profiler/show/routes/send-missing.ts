import type { FastifyReply, FastifyRequest } from 'fastify'
import { missingText, renderNotFoundMarkdown, renderNotFoundPage, type Missing } from '../pages/not-found-page.ts'
import type { PageSources } from './page-sources.ts'
import { searchBarOptions, searchOf } from './search-of.ts'
import { sendFormats } from './send-formats.ts'

const newestShown = 10

/** Answers 404 with what is missing and what exists. */
export async function sendMissing(
  request: FastifyRequest,
  reply: FastifyReply,
  missing: Missing,
  sources: PageSources,
): Promise<FastifyReply> {
  const { archive, base, panels } = sources
  const { profiles } = await archive.search({ perPage: newestShown })
  return sendFormats(request, reply.code(404), {
    html: () => renderNotFoundPage(missing, profiles, searchBarOptions(searchOf(request, sources), sources)),
    json: () => ({
      error: missingText(missing),
      ...(missing.what === 'panel' && { panels: panels.map(({ name }) => name) }),
      newest: profiles,
    }),
    markdown: () => renderNotFoundMarkdown(missing, profiles, base),
  })
}

/** Answers 404 for a token that has no profile, or none yet. */
export function sendUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  sources: PageSources,
): Promise<FastifyReply> {
  const what = sources.archive.isRunning(token) ? 'running' : 'profile'
  return sendMissing(request, reply, { what, token }, sources)
}
