import type { FastifyInstance } from 'fastify'
import { canRunAgain, explainQuery } from '../../explain/explain-query.ts'
import { NoPlan } from '../../explain/no-plan.ts'
import { renderExplainMarkdown, renderExplainPage } from '../pages/explain-page.ts'
import { isSameOrigin } from '../same-origin.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'
import { sendFormats } from './send-formats.ts'
import { sendMissing, sendUnknown } from './send-missing.ts'

/** Explains a stored query. Takes nothing but its number, so nobody can send a statement. */
export function explainRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, explainPool, viewContext } = sources
  if (explainPool === null) return

  app.post<{ Params: { token: string; number: string } }>(
    `${base}/:token/queries/:number/explain`,
    async function explainStored(request, reply) {
      const { token, number } = request.params
      if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
      const profile = await archive.find(token)
      if (profile === null) return sendUnknown(request, reply, token, sources)
      const query = profile.database?.queries[Number(number) - 1]
      if (query === undefined) return sendMissing(request, reply, { what: 'page', path: request.url }, sources)
      const context = viewContext(profile)
      const run = queryOf(request).has('run')
      const explained = await explainQuery(explainPool, query, run)
      const failure = explained instanceof NoPlan ? explained.message : null
      return sendFormats(request, reply, {
        html: () => renderExplainPage(explained, query, number, canRunAgain(explainPool, query), context),
        json: () => (failure === null ? explained : { error: failure }),
        markdown: () => renderExplainMarkdown(explained, query),
      })
    },
  )
}
