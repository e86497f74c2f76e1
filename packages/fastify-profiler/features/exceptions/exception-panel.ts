import type { FastifyInstance } from 'fastify'
import type { BuiltInPanel, Tone } from '../../core/panel.ts'
import type { Exception, Profile } from '../../core/profile.ts'
import { blocksHtml, type Fact } from '../../core/view/block.ts'
import { statusTone } from '../../core/view/elements.ts'
import { html } from '../../core/view/html.ts'
import type { PageSources } from '../../core/feature.ts'
import { assets, linkStylesheet, renderDocument, sendFormats } from '../../core/view/page.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { isRoutingFailure } from '../routing/routing-panel.ts'
import { failedBefore, isSilentFailure, silentFailure } from '../performance/failed-calls.ts'
import { failureSections, renderErrorMarkdown } from './failure-sections.ts'
import { chainOf, exceptionCard, lineOf, worstOf } from './exceptions.ts'

const causeLength = 120

/** The root cause of a failed request, and the line of the application to look at. */
export function causeFacts(profile: Profile): Fact[] {
  const chain = chainOf(profile)
  const { cause, exceptions, worst } = chain
  if (exceptions[worst] === undefined || isRoutingFailure(profile)) return []
  const root = cause === worst ? undefined : exceptions[cause]
  const line = lineOf(chain)
  return [
    ['Root cause', root ? { strong: (root.message || root.class).slice(0, causeLength), tone: 'error' } : null],
    ['Your line', line && { place: line }],
  ]
}

export function exceptionFacts(profile: Profile): Fact[] {
  const thrown = profile.exceptions[worstOf(profile)]
  if (thrown === undefined || isRoutingFailure(profile)) return []
  const text = (thrown.message || thrown.class).slice(0, causeLength)
  return [['Error', { strong: text, tone: toneOf(thrown) }], ...causeFacts(profile)]
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
  badge(exceptions) {
    const failing = exceptions.find(one => one.relation === 'thrown' && toneOf(one) === 'error') ?? exceptions[0]
    return failing === undefined ? null : { text: String(exceptions.length), tone: toneOf(failing) }
  },
  toolbarItem(exceptions, { profile, root }) {
    const thrown = exceptions[worstOf(profile)]
    if (thrown === undefined) return null
    const card = exceptionCard(thrown, exceptions, root)
    return { label: 'Exception', value: thrown.class, tone: toneOf(thrown), card }
  },
  view(_, context) {
    const { profile } = context
    const sections = failureSections(context)
    if (!isSilentFailure(profile)) return sections
    const before = failedBefore(profile)
    const [claim, remedy] = silentFailure(profile.status, before)
    const place = before?.location ? [' ', { place: before.location }] : null
    return [{ notice: [claim, place, ' ', remedy], tone: 'error' }, ...sections]
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
    const thrown = exceptions[worstOf(context.profile)]
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
${blocksHtml(failureSections(context), context, 2)}</main>`,
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
