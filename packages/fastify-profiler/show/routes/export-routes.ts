import type { FastifyInstance } from 'fastify'
import { visible } from '../../base/visible.ts'
import { harOf } from '../har/har.ts'
import { renderProfileFile } from '../pages/profile-file.ts'
import { curlCommand } from '../parts/curl-command.ts'
import type { PageSources } from './page-sources.ts'
import { sendUnknown } from './send-missing.ts'

/** A profile in forms that others can use without the profiler. */
export function exportRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, panels, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token/curl`, async function sendCurl(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    // It may be printed in a terminal.
    return reply.type('text/plain; charset=utf-8').send(`${visible(curlCommand(profile))}\n`)
  })

  app.get<{ Params: { token: string } }>(`${base}/:token/har`, async function sendHar(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    return reply
      .header('content-disposition', `attachment; filename="profile-${profile.token}.har"`)
      .type('application/json; charset=utf-8')
      .send(`${JSON.stringify(harOf(profile), null, 2)}\n`)
  })

  app.get<{ Params: { token: string } }>(`${base}/:token/file`, async function sendFile(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    return reply
      .header('content-disposition', `attachment; filename="profile-${profile.token}.html"`)
      .type('text/html; charset=utf-8')
      .send(renderProfileFile(viewContext(profile), panels))
  })
}
