import type { FastifyInstance } from 'fastify'
import { features, type PageSources } from '../../core/feature.ts'
import { previousRequest, sightingsOf } from './like-requests.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import { findAsset } from '../../core/view/page.ts'
import { panelData, panelsByWeight, renderProfileMarkdown, renderProfilePage } from './profile-page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { profileUrl, urlPart } from '../../core/view/urls.ts'
import { sendMissing, sendUnknown } from './not-found-page.ts'
import { searchRoutes, showSearch } from './search-page.ts'

/** The list of requests, each of them, and what every page needs. */
export function homeRoutes(app: FastifyInstance, sources: PageSources): void {
  searchRoutes(app, sources)
  profileRoutes(app, sources)
  assetRoutes(app, sources)
  unknownPageRoute(app, sources)
}

/** The stylesheets and scripts of the pages. */
function assetRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources

  app.get<{ Params: { name: string } }>(`${base}/assets/:name`, async function sendAsset(request, reply) {
    const { name } = request.params
    const asset = findAsset(name)
    if (asset === undefined) return sendMissing(request, reply, { what: 'page', path: `assets/${name}` }, sources)
    const isCurrent = queryOf(request).get('v') === asset.version
    return reply
      .header('cache-control', isCurrent ? 'private, max-age=31536000, immutable' : 'private, no-cache')
      .type(asset.type)
      .send(asset.body)
  })
}

/** Subrequests listed in the header of a request. */
const causedShown = 20

/** One request, with a panel open. */
function profileRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, panels, viewContext } = sources
  const actions = features.flatMap(({ action }) => action ?? [])

  app.get<{ Params: { token: string } }>(`${base}/:token`, async function showProfile(request, reply) {
    // `<base>/` arrives here, since it cannot be a route of its own if the router ignores trailing slashes.
    if (request.params.token === '') return showSearch(request, reply, sources)
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const { token } = profile
    const wanted = queryOf(request).get('panel') || null
    const name = wanted ?? panelsByWeight(panels, profile)[0]?.name ?? ''
    const open = panels.find(panel => panel.name === name)
    const why = `There is no panel "${name}".`
    if (open === undefined) return sendMissing(request, reply, { what: 'part', why, token, panels }, sources)
    const { profiles: caused } = await archive.search({ parent: token, perPage: causedShown })
    const context = { ...viewContext(profile), query: queryOf(request) }
    const previousOfRoute = (await previousRequest(archive, profile))?.token ?? null
    const sightings = await sightingsOf(archive, profile)
    const related = { caused, previousOfRoute, sightings, ...(await archive.neighbours(token)) }
    return sendFormats(request, reply, {
      html: () => renderProfilePage(context, panels, open.name, related, actions),
      json: () => (wanted === null ? context.profile : { token, panel: name, data: panelData(open, context.profile) }),
      markdown: () => renderProfileMarkdown(context, panels, wanted ?? undefined),
    })
  })
}

/** Every other path below the profiler's: a redirect without its trailing slash, else 404. */
function unknownPageRoute(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources

  app.get<{ Params: { '*': string } }>(`${base}/*`, async function showOther(request, reply) {
    const path = request.params['*']
    const [token = '', panel = '', ...rest] = path.split('/')
    if (rest.length === 0 && sources.panels.some(({ name }) => name === panel)) {
      return reply.redirect(profileUrl(base, token, panel), 302)
    }
    if (!path.endsWith('/')) return sendMissing(request, reply, { what: 'page', path }, sources)
    const query = queryOf(request).toString()
    const segments = path
      .split('/')
      .filter(segment => segment !== '')
      .map(urlPart)
    return reply.redirect(`${[base, ...segments].join('/')}${query === '' ? '' : `?${query}`}`, 308)
  })
}
