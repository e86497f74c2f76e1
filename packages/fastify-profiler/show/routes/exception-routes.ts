import type { FastifyInstance } from 'fastify'
import { html } from '../../base/html.ts'
import { renderErrorMarkdown } from '../markdown/error-markdown.ts'
import { linkStylesheet, renderDocument } from '../pages/document.ts'
import { assets } from '../parts/assets.ts'
import { renderExceptionSections } from '../parts/exception-sections.ts'
import type { PageSources } from './page-sources.ts'
import { sendFormats } from './send-formats.ts'
import { sendMissing, sendUnknown } from './send-missing.ts'

/** The exception of a request as a document of its own, with the stylesheet that it needs. */
export function exceptionRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token/exception`, async function showException(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const context = viewContext(profile)
    const { token, exceptions, logs } = context.profile
    const [thrown] = exceptions
    if (thrown === undefined) return sendMissing(request, reply, { what: 'exception', token }, sources)
    return sendFormats(request, reply, {
      html: () =>
        renderDocument({
          title: `${thrown.class} · Profiler`,
          className: 'part',
          style: linkStylesheet(`${base}/${token}/exception.css`),
          body: html`<main><h1>${thrown.class}</h1>
${renderExceptionSections(context, 2)}</main>`,
        }),
      json: () => ({ token, exceptions, logs }),
      markdown: () => renderErrorMarkdown(context),
    })
  })

  app.get<{ Params: { token: string } }>(
    `${base}/:token/exception.css`,
    async function sendExceptionCss(request, reply) {
      const { token } = request.params
      if ((await archive.find(token)) === null) return sendUnknown(request, reply, token, sources)
      const { type, body } = assets['exception.css']
      return reply.header('cache-control', 'private, max-age=3600').type(type).send(body)
    },
  )
}
