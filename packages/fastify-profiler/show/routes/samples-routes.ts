import type { FastifyInstance } from 'fastify'
import { isSampleKind } from '../../base/samples.ts'
import { arm } from '../../watch/sampling.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { isSameOrigin } from '../same-origin.ts'
import type { PageSources } from './page-sources.ts'
import { sendMissing, sendUnknown } from './send-missing.ts'

/** The samples of a request as a file, and the form that has the next request to its route sampled. */
export function samplesRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token/samples`, async function sendSamples(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const text = viewContext(profile).readSamples?.() ?? null
    if (text === null) return sendMissing(request, reply, { what: 'samples', token: profile.token }, sources)
    const ending = profile.samples?.kind === 'cpu' ? 'cpuprofile' : 'heapprofile'
    return reply
      .header('content-disposition', `attachment; filename="profile-${profile.token}.${ending}"`)
      .type('application/json; charset=utf-8')
      .send(text)
  })

  app.post<{ Params: { token: string } }>(`${base}/:token/samples`, async function armRoute(request, reply) {
    if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const kind = new URLSearchParams(String(request.body)).get('kind')
    const { matched } = profile.routing
    if (!isSampleKind(kind) || matched === null) {
      return reply.code(400).type('text/plain').send('Nothing to sample: name a kind, of a request with a route.\n')
    }
    arm(profile.method, matched.url, kind)
    return reply.redirect(profileUrl(base, profile.token, 'cpu'), 303)
  })
}
