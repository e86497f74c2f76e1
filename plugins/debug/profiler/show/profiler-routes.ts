import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { preferredForm } from './negotiation.ts'
import type { AnyPanel, ViewContext } from '../collect/panel.ts'
import type { Profile } from '../base/profile.ts'
import type { ProfileArchive } from '../store/profile-archive.ts'
import type { ViewerAccess } from './viewer-access.ts'
import { readSearch, type Search } from '../store/search-criteria.ts'
import { untraced } from '../watch/traced-function.ts'
import { assets, assetUrl } from './parts/assets.ts'
import { profilerPolicy } from './parts/content-security-policy.ts'
import { linkStylesheet, renderDocument } from './pages/document.ts'
import { renderErrorMarkdown } from './markdown/error-markdown.ts'
import { renderExceptionSections } from './parts/exception-sections.ts'
import { html } from '../base/html.ts'
import { blocks, codeBlock, plain } from './markdown/markdown.ts'
import { missingText, renderNotFoundMarkdown, renderNotFoundPage, type Missing } from './pages/not-found-page.ts'
import { panelData } from './parts/panel-menu.ts'
import { renderProfileMarkdown } from './markdown/profile-markdown.ts'
import { renderProfilePage } from './pages/profile-page.ts'
import { profileUrl, urlPart } from './parts/profile-url.ts'
import { renderProblems } from './parts/problems.ts'
import { renderSearchBar, type SearchBarOptions } from './parts/search-bar.ts'
import { renderSearchMarkdown } from './markdown/search-markdown.ts'
import { renderSearchPage } from './pages/search-page.ts'

export interface ProfilerRoutesOptions {
  archive: ProfileArchive
  access: ViewerAccess
  viewContext: (profile: Profile) => ViewContext
  base: string
  panels: readonly AnyPanel[]
  /** Labels to search by. */
  labels: readonly string[]
}

/** A page in its three formats. */
interface Page {
  html: () => string
  json: () => unknown
  markdown: () => string
}

const newestShown = 10
/** Subrequests listed in the header of a request. */
const causedShown = 20

/** The profiler's pages. For clients without access they are unknown paths. */
export async function profilerRoutes(app: FastifyInstance, options: ProfilerRoutesOptions): Promise<void> {
  const { access, archive, base, panels } = options

  app.addHook(
    'onRequest',
    untraced(async function guardProfiler(request: FastifyRequest, reply: FastifyReply) {
      const verdict = await access.judge(request.raw)
      if (verdict === 'address') return reply.callNotFound()
      addHeaders(reply)
      if (verdict === 'host') {
        return reply
          .code(403)
          .type('text/plain; charset=utf-8')
          .send(
            'The profiler does not trust this host name. Use localhost or an IP address, or accept the name in the option isTrustedHost.\n',
          )
      }
    }),
  )
  app.setErrorHandler(function profilerFailed(error, request, reply) {
    request.log.error(error, 'The profiler failed to show a page')
    return reply
      .code(500)
      .type('text/plain; charset=utf-8')
      .send('The profiler failed to show this page. See the log for the error.\n')
  })

  app.get(base, showSearch)
  app.get(`${base}/search`, showSearch)

  app.get<{ Params: { '*': string } }>(`${base}/*`, async function showOther(request, reply) {
    const path = request.params['*']
    if (!path.endsWith('/')) return sendMissing(request, reply, { what: 'page', path })
    const query = queryOf(request).toString()
    const segments = path
      .split('/')
      .filter(segment => segment !== '')
      .map(urlPart)
    return reply.redirect(`${[base, ...segments].join('/')}${query === '' ? '' : `?${query}`}`, 308)
  })

  async function showSearch(request: FastifyRequest, reply: FastifyReply) {
    const search = searchOf(request)
    const { criteria, problems, panel } = search
    const { token, ...others } = criteria
    // A search for nothing but an existing token opens its profile.
    if (
      token !== undefined &&
      Object.keys(others).length === 0 &&
      problems.length === 0 &&
      (await archive.find(token)) !== null
    ) {
      return reply.redirect(profileUrl(base, token, panel ?? undefined), 302)
    }
    const found = await archive.search(criteria)
    const result = { ...found, problems: [...problems, ...found.problems] }
    return send(request, reply, {
      html: () => renderSearchPage(result, searchBarOptions(search)),
      json: () => result,
      markdown: () => renderSearchMarkdown(result, base),
    })
  }

  app.get(`${base}/search_bar`, async function showSearchBar(request, reply) {
    const search = searchOf(request)
    const { criteria, problems } = search
    return send(request, reply, {
      html: () =>
        renderDocument({
          title: 'Search · Profiler',
          className: 'part',
          style: linkStylesheet(assetUrl(base, 'profiler.css')),
          body: html`<main><h1>Search requests</h1>
${renderProblems(problems)}
${renderSearchBar(criteria, searchBarOptions(search))}</main>`,
        }),
      json: () => ({ criteria, problems, labels: options.labels }),
      markdown: () => `${blocks(...problems.map(plain), codeBlock(JSON.stringify(criteria, null, 2), 'json'))}\n`,
    })
  })

  app.get<{ Params: { name: string } }>(`${base}/assets/:name`, async function sendAsset(request, reply) {
    const asset = new Map(Object.entries(assets)).get(request.params.name)
    if (asset === undefined) return sendMissing(request, reply, { what: 'page', path: `assets/${request.params.name}` })
    const isCurrent = queryOf(request).get('v') === asset.version
    return reply
      .header('cache-control', isCurrent ? 'private, max-age=31536000, immutable' : 'private, no-cache')
      .type(asset.type)
      .send(asset.body)
  })

  app.get<{ Params: { token: string } }>(`${base}/:token`, async function showProfile(request, reply) {
    // `<base>/` arrives here, since it cannot be a route of its own if the router ignores trailing slashes.
    if (request.params.token === '') return showSearch(request, reply)
    const context = await contextOf(request.params.token)
    if (context === null) return sendUnknown(request, reply, request.params.token)
    const { profile } = context
    const wanted = queryOf(request).get('panel') || null
    const name = wanted ?? defaultPanel(profile)
    const open = panels.find(panel => panel.name === name)
    if (open === undefined) {
      return sendMissing(request, reply, { what: 'panel', token: profile.token, panel: name, panels })
    }
    const { profiles: caused } = await archive.search({ parent: profile.token, perPage: causedShown })
    return send(request, reply, {
      html: () => renderProfilePage(context, panels, open.name, caused),
      json: () =>
        wanted === null ? profile : { token: profile.token, panel: open.name, data: panelData(open, profile) },
      markdown: () => renderProfileMarkdown(context, panels, wanted ?? undefined),
    })
  })

  app.get<{ Params: { token: string } }>(`${base}/:token/exception`, async function showException(request, reply) {
    const context = await contextOf(request.params.token)
    if (context === null) return sendUnknown(request, reply, request.params.token)
    const { token, exceptions, logs } = context.profile
    const [thrown] = exceptions
    if (thrown === undefined) return sendMissing(request, reply, { what: 'exception', token })
    return send(request, reply, {
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
      if ((await archive.find(token)) === null) return sendUnknown(request, reply, token)
      const { type, body } = assets['exception.css']
      return reply.header('cache-control', 'private, max-age=3600').type(type).send(body)
    },
  )

  async function contextOf(token: string): Promise<ViewContext | null> {
    const profile = await archive.find(token)
    return profile === null ? null : options.viewContext(profile)
  }

  function sendUnknown(request: FastifyRequest, reply: FastifyReply, token: string): Promise<FastifyReply> {
    return sendMissing(request, reply, { what: archive.isRunning(token) ? 'running' : 'profile', token })
  }

  async function sendMissing(request: FastifyRequest, reply: FastifyReply, missing: Missing): Promise<FastifyReply> {
    const { profiles } = await archive.search({ perPage: newestShown })
    return send(request, reply.code(404), {
      html: () => renderNotFoundPage(missing, profiles, searchBarOptions(searchOf(request))),
      json: () => ({
        error: missingText(missing),
        ...(missing.what === 'panel' && { panels: panels.map(({ name }) => name) }),
        newest: profiles,
      }),
      markdown: () => renderNotFoundMarkdown(missing, profiles, base),
    })
  }

  function searchOf(request: FastifyRequest): Search {
    return readSearch(queryOf(request), { labels: options.labels, panels: panels.map(({ name }) => name) })
  }

  function searchBarOptions({ panel }: Search): SearchBarOptions {
    return { base, labels: options.labels, ...(panel !== null && { panel }) }
  }
}

function defaultPanel(profile: Profile): string {
  return profile.exceptions.length > 0 ? 'exception' : 'request'
}

function send(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  const form = preferredForm(request.raw)
  if (form === 'html') return reply.type('text/html; charset=utf-8').send(page.html())
  if (form === 'markdown') return reply.type('text/markdown; charset=utf-8').send(page.markdown())
  return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(page.json())}\n`)
}

/** Headers of every page: no inline code, no framing, no caching, no indexing. */
function addHeaders(reply: FastifyReply): void {
  reply.headers({
    'content-security-policy': profilerPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'cache-control': 'no-store',
    vary: 'accept',
  })
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
}
