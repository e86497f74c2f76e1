import type { FastifyInstance } from 'fastify'
import { NotRepeatable } from '../../replay/repeatable-request.ts'
import { renderNotReplayedMarkdown, renderNotReplayedPage } from '../pages/not-replayed-page.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { isSameOrigin } from '../same-origin.ts'
import type { PageSources } from './page-sources.ts'
import { sendFormats } from './send-formats.ts'
import { sendUnknown } from './send-missing.ts'

/** Sends a stored request again. Takes nothing but its token, so nobody can send another. */
export function replayRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, replay } = sources

  app.post<{ Params: { token: string } }>(`${base}/:token/replay`, async function replayStored(request, reply) {
    if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const replayed = await replay(profile)
    if (!(replayed instanceof NotRepeatable)) return reply.redirect(profileUrl(base, replayed), 303)
    return sendFormats(request, reply.code(422), {
      html: () => renderNotReplayedPage(replayed, profile, base),
      json: () => ({ error: replayed.message }),
      markdown: () => renderNotReplayedMarkdown(replayed),
    })
  })
}
