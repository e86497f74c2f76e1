import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import { sendMissing, sendUnknown } from '../../features/home/not-found-page.ts'
import { showSearch } from '../../features/home/search-page.ts'
import { attempt, propertyOf, whenThere } from '../foreign-value.ts'
import type { Profile } from '../profile.ts'
import { pathOfUrl } from '../request-target.ts'
import { previousRequest, sightingsOf } from '../store/like-requests.ts'
import { pathOptions } from '../watch/known-routes.ts'
import { pageGuard, queryOf, statusCodeOf, takeText } from './page-guard.ts'
import { features, type PageSources } from '../feature.ts'
import { assets } from './page.ts'
import { panelData, renderProfileMarkdown, renderProfilePage } from './profile-page.ts'
import { sendFormats } from './send-formats.ts'
import { urlPart } from './urls.ts'
import type { ViewerAccess } from './viewer-access.ts'

/** The stylesheets and scripts of the pages. */
function assetRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources

  app.get<{ Params: { name: string } }>(`${base}/assets/:name`, async function sendAsset(request, reply) {
    const { name } = request.params
    const asset = new Map(Object.entries(assets)).get(name)
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
    const name = wanted ?? defaultPanel(profile)
    const open = panels.find(panel => panel.name === name)
    if (open === undefined) return sendMissing(request, reply, { what: 'panel', token, panel: name, panels }, sources)
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

function defaultPanel(profile: Profile): string {
  return profile.exceptions.length > 0 ? 'exception' : 'request'
}

/** Every other path below the profiler's: a redirect without its trailing slash, else 404. */
function unknownPageRoute(app: FastifyInstance, sources: PageSources): void {
  const { base } = sources

  app.get<{ Params: { '*': string } }>(`${base}/*`, async function showOther(request, reply) {
    const path = request.params['*']
    if (!path.endsWith('/')) return sendMissing(request, reply, { what: 'page', path }, sources)
    const query = queryOf(request).toString()
    const segments = path
      .split('/')
      .filter(segment => segment !== '')
      .map(urlPart)
    return reply.redirect(`${[base, ...segments].join('/')}${query === '' ? '' : `?${query}`}`, 308)
  })
}

interface ProfilerRoutesOptions extends PageSources {
  access: ViewerAccess
}

/** Bytes of a form. */
const formMost = 1000

/** The profiler's pages, in one context: Fastify runs and names onReady hooks differently where contexts are nested. */
export async function profilerRoutes(app: FastifyInstance, options: ProfilerRoutesOptions): Promise<void> {
  app.addHook('onRequest', pageGuard(options.access))
  app.setErrorHandler(function profilerFailed(error, request, reply) {
    const statusCode = statusCodeOf(error)
    reply.code(statusCode).type('text/plain; charset=utf-8')
    // Such as a body that is too large, or a hook of the application.
    if (statusCode < 500) return reply.send(`This request was refused: ${String(propertyOf(error, 'message'))}\n`)
    request.log.error(error, 'The profiler failed to show a page')
    return reply.send('The profiler failed to show this page. See the log for the error.\n')
  })

  takeText(app, '*', formMost)

  for (const { routes } of features) routes?.(app, options)
  profileRoutes(app, options)
  assetRoutes(app, options)
  unknownPageRoute(app, options)
}

/** Carries the status for error handlers. The Allow header is set on the reply, where no handler drops it. */
class MethodNotAllowedError extends Error {
  override readonly name = 'MethodNotAllowedError'
  readonly code = 'PROFILER_METHOD_NOT_ALLOWED'
  readonly statusCode = 405
}

/**
 * Rejects other methods on the profiler's pages with 405 and Allow, through the application's error handler. For
 * clients without access they stay unknown paths. Must be registered before the pages.
 */
export function refuseOtherMethods(app: FastifyInstance, base: string, access: ViewerAccess): void {
  const pages = FindMyWay(pathOptions(app))
  const declared = new Set<HTTPMethod>()

  app.addHook('onRoute', function declare({ method, url }) {
    // The catch-all route serves no page.
    if (!`${url}/`.startsWith(`${base}/`) || url.endsWith('*')) return
    for (const each of [method].flat()) {
      // Fastify adds a HEAD route for every GET route.
      if (each === 'HEAD' || !isMethod(each)) continue
      declared.add(each)
      pages.on(each, url, String)
    }
  })

  app.addHook('onRequest', function refuseMethod(request, reply, done) {
    if (!request.is404) return done()
    const path = pathOfUrl(request.url)
    const allow = [...declared].filter(method => pages.find(method, path) !== null).join(', ')
    if (allow === '') return done()
    void whenThere(
      // isTrustedHost is application code and may throw.
      attempt(() => access.judge(request.raw), 'host'),
      verdict => {
        if (verdict !== 'allowed') return done()
        reply.header('allow', allow)
        const message = `No route found for "${request.method} ${path}": Method Not Allowed (Allow: ${allow})`
        done(new MethodNotAllowedError(message))
      },
      () => done(),
    )
  })
}

function isMethod(method: string): method is HTTPMethod {
  return METHODS.includes(method)
}
