import type { FastifyInstance } from 'fastify'
import { renderBootMarkdown } from '../markdown/boot-markdown.ts'
import { renderBootPage } from '../pages/boot-page.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'
import { sendFormats } from './send-formats.ts'
import { sendUnknown } from './send-missing.ts'

/** The newest start of the application, under the token "boot". */
export function bootRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base, editorUrl, newestBoot, root } = sources

  app.get(`${base}/boot`, async function showBoot(request, reply) {
    const boot = newestBoot()
    if (boot === null) return sendUnknown(request, reply, 'boot', sources)
    return sendFormats(request, reply, {
      html: () => renderBootPage(boot, { base, editorUrl, root, query: queryOf(request) }),
      json: () => boot,
      markdown: () => renderBootMarkdown(boot, root),
    })
  })
}
