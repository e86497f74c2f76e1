import type { FastifyInstance } from 'fastify'
import type { Profile } from '../../base/profile.ts'
import { renderProfileMarkdown } from '../markdown/profile-markdown.ts'
import { renderProfilePage } from '../pages/profile-page.ts'
import { panelData } from '../parts/panel-menu.ts'
import { previousRequest, sightingsOf } from './like-requests.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'
import { sendFormats } from './send-formats.ts'
import { sendMissing, sendUnknown } from './send-missing.ts'
import { showSearch } from './show-search.ts'

/** Subrequests listed in the header of a request. */
const causedShown = 20

/** One request, with a panel open. */
export function profileRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, panels, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token`, async function showProfile(request, reply) {
    // `<base>/` arrives here, since it cannot be a route of its own if the router ignores trailing slashes.
    if (request.params.token === '') return showSearch(request, reply, sources)
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const { token } = profile
    const wanted = queryOf(request).get('panel') || null
    const name = wanted ?? defaultPanel(profile)
    const open = panels.find(panel => panel.name === name)
    if (open === undefined) return sendMissing(request, reply, { what: 'panel', token, panel: name, panels }, sources)
    const { profiles: caused } = await archive.search({ parent: token, perPage: causedShown })
    const context = { ...viewContext(profile), query: queryOf(request) }
    const previousOfRoute = (await previousRequest(archive, profile))?.token ?? null
    const sightings = await sightingsOf(archive, profile)
    const related = { caused, previousOfRoute, sightings, ...(await archive.neighbours(token)) }
    return sendFormats(request, reply, {
      html: () => renderProfilePage(context, panels, open.name, related),
      json: () => (wanted === null ? context.profile : { token, panel: name, data: panelData(open, context.profile) }),
      markdown: () => renderProfileMarkdown(context, panels, wanted ?? undefined),
    })
  })
}

function defaultPanel(profile: Profile): string {
  return profile.exceptions.length > 0 ? 'exception' : 'request'
}
