import type { FastifyInstance } from 'fastify'
import type { BuiltInPanel, Tone, ViewContext } from '../../core/panel.ts'
import type { Exception } from '../../core/profile.ts'
import { blocksHtml } from '../../core/view/block.ts'
import { type HeadingLevel, renderEmptyState, renderHeading, statusTone } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import type { PageSources } from '../../core/feature.ts'
import { assets, linkStylesheet, renderDocument } from '../../core/view/page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { renderLogTable } from '../logs/logs-panel.ts'
import { isRoutingFailure, nearestRoutes } from '../routing/routing-panel.ts'
import { isSilentFailure, silentFailure } from '../performance/failed-calls.ts'
import { exceptionSectionsMarkdown, renderErrorMarkdown } from './exceptions-markdown.ts'
import { failedQueryOf, renderFailedQuery } from './failed-query.ts'
import { crashText, exceptionCard, renderExceptions, renderStackTraces } from './exceptions.ts'

/**
 * The sections of a failed request, on its error page and in the profiler: Exceptions, Logs, Stack Traces.
 * `level` is the level of their headings.
 */
export function renderExceptionSections(context: ViewContext, level: HeadingLevel): Markup {
  const { profile, root } = context
  const { crash, exceptions, logs } = profile
  const section = (id: string, title: Markup, body: Markup) => html`
<section id="${id}" aria-labelledby="${id}-title">${renderHeading(level, `${id}-title`, title)}
${body}</section>`
  const counted = (title: string, amount: number) => html`${title} <span class="count">${amount}</span>`
  const inner = level === 2 ? 3 : 4
  const failed = failedQueryOf(profile)
  const thrown =
    exceptions.length === 0
      ? renderEmptyState(`No exception was ${isSilentFailure(profile) ? 'seen' : 'thrown'}.`)
      : html`${failed !== null && renderFailedQuery(failed, context, inner)}${renderExceptions(profile, context, inner)}`
  const matches = html`Nearest routes`
  const isRouting = isRoutingFailure(profile)
  return html`${isRouting && section('matches', matches, blocksHtml(nearestRoutes(profile), context))}
${section('exceptions', counted('Exceptions', exceptions.length), html`${crash !== undefined && html`<p class="notice error">${crashText(crash)}</p>`}${thrown}`)}
${section('logs', counted('Logs', logs.length), renderLogTable(profile, context))}
${section('stack-traces', counted('Stack Traces', exceptions.length), renderStackTraces(exceptions, root, !isRouting))}`
}

/** A deliberate 4xx is a warning, not an error. */
function toneOf(thrown: Exception | undefined): Tone {
  return statusTone(thrown?.statusCode ?? 500)
}

/** The thrown exception with its causes and members, or the nearest routes if no route matched. */
export const exceptionPanel: BuiltInPanel<Exception[]> = {
  name: 'exception',
  label: 'Exception',
  read: profile =>
    profile.exceptions.length > 0 || isRoutingFailure(profile) || isSilentFailure(profile) ? profile.exceptions : null,
  opens: ({ exceptions }) => (exceptions.length > 0 ? 2 : 0),
  badge: ({ length, 0: thrown }) => (length === 0 ? null : { text: String(length), tone: toneOf(thrown) }),
  toolbarItem(exceptions, { root }) {
    const [thrown] = exceptions
    if (thrown === undefined) return null
    const card = exceptionCard(thrown, exceptions, root)
    return { label: 'Exception', value: thrown.class, tone: toneOf(thrown), card }
  },
  view(_, context) {
    const { profile } = context
    const sections = { html: renderExceptionSections(context, 3), markdown: exceptionSectionsMarkdown(context) }
    if (!isSilentFailure(profile)) return [sections]
    return [{ notice: `${profile.status} ${silentFailure.join(' ')}`, tone: 'error' }, sections]
  },
}

/** The exception of a request as a document of its own, with its stylesheet. */
export function exceptionRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token/exception`, async function showException(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const context = viewContext(profile)
    const { token, exceptions, logs } = context.profile
    const [thrown] = exceptions
    if (thrown === undefined) {
      return sendMissing(request, reply, { what: 'part', why: `Request ${token} had no exception.`, token }, sources)
    }
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
      const { type, body } = assets['profiler.css']
      return reply.header('cache-control', 'private, max-age=3600').type(type).send(body)
    },
  )
}
