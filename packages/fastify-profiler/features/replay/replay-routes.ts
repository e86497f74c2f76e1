import type { FastifyInstance } from 'fastify'
import type { Profile } from '../../core/profile.ts'
import { renderCodeBlock } from '../../core/view/code-block.ts'
import { html } from '../../core/view/html.ts'
import { blocks, plain } from '../../core/view/markdown.ts'
import { isSameOrigin } from '../../core/view/page-guard.ts'
import type { PageSources, ProfileAction } from '../../core/feature.ts'
import { renderPage } from '../../core/view/page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { profileUrl, urlPart } from '../../core/view/urls.ts'
import { curlCommand } from '../request/curl-command.ts'
import { sendUnknown } from '../home/not-found-page.ts'
import { isRepeatable, NotRepeatable } from './repeatable-request.ts'
import { applicationOf, replay } from './replay.ts'

/** Sends the request again, if its method may be repeated. */
export const replayAction: ProfileAction = ({ method, token }, base) =>
  isRepeatable(method) &&
  html`<form method="post" action="${base}/${urlPart(token)}/replay"><button>Replay</button></form>`

/** Says why a request was not sent again, and how to do it by hand. */
export function renderNotReplayedPage({ message }: NotRepeatable, profile: Profile, base: string): string {
  const { method, token, url } = profile
  return renderPage({
    title: 'Not replayed · Profiler',
    base,
    main: html`<h1>Not replayed</h1>
<p class="notice warning">${message}</p>
<p><a href="${profileUrl(base, token)}">Back to ${method} ${url.slice(0, 200)}</a></p>
<h2>By hand</h2>
${renderCodeBlock(curlCommand(profile))}`,
  })
}

/** The same as Markdown. */
function renderNotReplayedMarkdown({ message }: NotRepeatable): string {
  return `${blocks('# Not replayed', plain(message))}\n`
}

/** Sends a stored request again. Takes nothing but its token, so nobody can send another. */
export function replayRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base } = sources

  app.post<{ Params: { token: string } }>(`${base}/:token/replay`, async function replayStored(request, reply) {
    if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const replayed = await replay(applicationOf(profile) ?? sources.app, profile)
    if (!(replayed instanceof NotRepeatable)) return reply.redirect(profileUrl(base, replayed), 303)
    return sendFormats(request, reply.code(422), {
      html: () => renderNotReplayedPage(replayed, profile, base),
      json: () => ({ error: replayed.message }),
      markdown: () => renderNotReplayedMarkdown(replayed),
    })
  })
}
