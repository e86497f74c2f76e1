import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Overview, overviewOf } from './overview.ts'
import { cutToBytes } from './fit-markdown.ts'
import { type Period, readSearch, type Search, searchQuery } from './search-criteria.ts'
import { wordsOf } from './search-words.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../../core/summary.ts'
import { type Place, renderEmptyState, titled } from '../../core/view/elements.ts'
import { type Content, html, type Markup } from '../../core/view/html.ts'
import { blocks, code, codeBlock, plain, table } from '../../core/view/markdown.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import type { PageSources } from '../../core/feature.ts'
import { assetUrl, linkStylesheet, renderDocument, renderPage, sendFormats } from '../../core/view/page.ts'
import { count, formatDuration, formatTime } from '../../core/view/units.ts'
import { inputTime, profileUrl } from '../../core/urls.ts'
import { hatchPattern } from '../performance/waterfall.ts'
import { renderTables, renderTroubles } from './lately.ts'
import { liveRowsOf, serverId } from './live-rows.ts'
import { originsOf, renderProfileList, renderProfileRow, searchUrl, slowRequestFrom } from './profile-list.ts'

/** Where the form leads, and what it offers besides the standard fields. */
export interface SearchBarOptions {
  base: string
  /** The application's folder. */
  root: string
  /** Labels to search by: ["license"]. */
  labels?: readonly string[]
  /** The panel in which results open. */
  panel?: string
}

const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The fields of text, each with its label and an example. */
const textFields = [
  ['url', 'URL contains', ''],
  ['status', 'Status', '404, 5xx'],
  ['exception', 'Exception contains', ''],
  ['route', 'Route', ''],
  ['sql', 'Queries', '3, >10'],
  ['statement', 'Statement contains', ''],
  ['text', 'Any text', ''],
  ['host', 'Host', ''],
  ['ip', 'IP', ''],
  ['token', 'Token', ''],
] as const

export function renderSearchBar(criteria: SearchCriteria, { base, labels = [], panel }: SearchBarOptions): Markup {
  const { method = '' } = criteria
  const methods = METHODS.includes(method) ? [...new Set([...usual, method])] : usual
  return html`<form class="search" action="${base}/search" role="search" aria-label="Search requests">
${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}
<div><label for="search-method">Method</label><select id="search-method" name="method"><option value="">Any</option>${methods.map(name => html`<option${name === method && html` selected`}>${name}</option>`)}</select></div>
${textFields.map(([name, label, example]) => text(name, label, criteria[name], example))}
${labels.map(name => text(name, titled(name), criteria.labels?.[name], ''))}
${range('Duration in ms', 'duration', html`type="number" min="0" step="any"`, criteria.durationFrom, criteria.durationTo)}
${range('Time in UTC', 'time', html`type="datetime-local" step="1"`, inputTime(criteria.timeFrom), inputTime(criteria.timeTo))}
<p class="row"><button>Search</button> <a href="${base}/">Clear</a></p>
</form>`
}

function text(name: string, label: string, value: Content, example: string): Markup {
  return html`
<div><label for="search-${name}">${label}</label><input id="search-${name}" name="${name}" value="${value}" placeholder="${example}" maxlength="500"></div>`
}

function range(legend: string, name: string, attributes: Markup, from: Content, to: Content): Markup {
  return html`<fieldset class="range"><legend>${legend}</legend>
<input name="${name}From" aria-label="${legend}, from" ${attributes} value="${from}"><span class="short" aria-hidden="true">to</span><input name="${name}To" aria-label="${legend}, to" ${attributes} value="${to}"></fieldset>`
}

/** Requests on the home page. */
const newestShown = 10

/** What the home page shows around the list. */
interface HomeOverview {
  overview: Overview
  period: Period
  place: Place
}

/** Whether a search has any criterion. Without one the page lists the latest requests. */
function isSearch(criteria: SearchCriteria): boolean {
  return [...new URLSearchParams(searchQuery(criteria, 1)).keys()].some(name => name !== 'perPage' && name !== 'sort')
}

/** The profiler's home page: what matters lately and the latest requests, or the results of a search. */
export function renderSearchPage(
  result: SearchResult,
  options: SearchBarOptions,
  home: HomeOverview | null = null,
): string {
  const { criteria, problems, profiles, total } = result
  const title = isSearch(criteria) ? `${count(total, 'request')} found` : 'Requests'
  const { base } = options
  const hasOverview = home !== null && home.overview.requests > 0
  const newest = home === null ? profiles : profiles.slice(0, newestShown)
  return renderPage({
    title: `${title} · Profiler`,
    base,
    root: options.root,
    panel: options.panel,
    main: html`${hatchPattern}${hasOverview && renderTroubles(home.overview, home.period, base, home.place)}<section aria-labelledby="requests"><div class="head">${hasOverview ? html`<h2 id="requests">${title}</h2>` : html`<h1 id="requests">${title}</h1>`}${!isSearch(criteria) && html`<span class="count">${total.toLocaleString('en')}</span>`}${home !== null && renderLiveControls(options)}${renderShortcuts(options)}</div>
${renderProblems(problems)}
${renderSearchBox(criteria, options)}
${profiles.length === 0 ? renderEmptyState(isSearch(criteria) ? 'No stored request matches.' : 'No requests stored yet. Open any page of the application.') : renderProfileList(newest, { ...options, criteria, medians: mediansOf(home), polls: result.polls, isLive: home !== null })}
${home === null ? renderPaging(result, options) : total > newest.length && html`<p><a href="${base}/search?page=1">All requests</a></p>`}</section>
${hasOverview && renderTables(home.overview, base, home.place)}`,
    footer: html`<p>${profiles.length > 0 && `Amber: ${slowRequestFrom} ms or more, or one query repeated in a loop.`}${hasOverview && ' Queries of a route: the median count.'}</p>`,
  })
}

/** Requests of a route from which on their median tells something. */
const mediansFrom = 5

function mediansOf(home: HomeOverview | null): Map<string, number> {
  const routes = home?.overview.routes.filter(({ count }) => count >= mediansFrom) ?? []
  return new Map(routes.map(({ method, p50, route }) => [`${method} ${route}`, p50]))
}

/** One box that understands fields and words; the fields of their own are folded. */
export function renderSearchBox(criteria: SearchCriteria, options: SearchBarOptions): Markup {
  const { base, panel } = options
  return html`<form class="search-box" action="${base}/search" role="search" aria-label="Search">${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}<input type="search" name="q" aria-label="Search requests" value="${wordsOf(criteria)}" placeholder="status:5xx  route:/checkout  slower:100ms  sql:&gt;10  or any text of the URL, exception or token" maxlength="4000"><button>Search</button></form>
<details class="fold"><summary>Fields</summary>${renderSearchBar(criteria, options)}</details>`
}

/** Shown by the script when the browser receives events; without them the page is reloaded. */
function renderLiveControls({ base }: SearchBarOptions): Markup {
  return html`<span class="live good" hidden>Live</span><button type="button" class="pause" hidden>Pause</button><a class="chip fresh" href="${base}/">Reload</a>`
}

/** Links to frequent searches. */
function renderShortcuts({ base }: SearchBarOptions): Markup {
  return html`<nav class="right chips" aria-label="Frequent searches"><a class="chip" href="${base}/">All</a><a class="chip" href="${base}/search?status=%3E%3D500">Failed</a><a class="chip" href="${base}/search?status=4xx">Refused</a><a class="chip" href="${base}/search?durationFrom=${slowRequestFrom}">Over ${slowRequestFrom} ms</a></nav>`
}

function renderPaging({ criteria, page, pages }: SearchResult, { base, panel }: SearchBarOptions): Markup | null {
  if (pages < 2) return null
  const link = (to: number, label: string, rel: string): Markup =>
    html`<a rel="${rel}" href="${searchUrl(base, criteria, to, panel)}">${label}</a>`
  return html`<nav class="paging" aria-label="Pages">${page > 1 ? link(page - 1, 'Newer', 'prev') : html`<span></span>`}<span>Page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}</span>${page < pages ? link(page + 1, 'Older', 'next') : html`<span></span>`}</nav>`
}

/** Bytes of a text in a list. The profile has it in full. */
const longestCell = 120

/** The results of a search as a table. */
export function renderSearchMarkdown({ problems, profiles, total, page, pages }: SearchResult, base: string): string {
  return (
    blocks(
      `# Requests: ${total}`,
      ...problems.map(plain),
      profiles.length === 0 ? 'None.' : profilesMarkdown(profiles, base),
      pages > 1 ? `Page ${page} of ${pages}.` : null,
    ) + '\n'
  )
}

export function profilesMarkdown(profiles: readonly ProfileSummary[], base: string): string {
  return table(
    ['Profile', 'Status', 'Request', 'Duration', 'Queries', 'Route', 'Exception', 'Time'],
    profiles.map(profile => [
      code(`${base}/${profile.token}`),
      String(profile.status ?? 'none'),
      code(cutToBytes(`${profile.method} ${profile.url}`, longestCell)),
      formatDuration(profile.duration),
      String(profile.queries.count),
      profile.route === null ? '' : code(cutToBytes(profile.route, longestCell)),
      plain(cutToBytes(profile.exception ?? '', longestCell)),
      formatTime(profile.time),
    ]),
  )
}

export function searchOf(request: FastifyRequest, { labels, panels }: PageSources): Search {
  return readSearch(queryOf(request), { labels, panels: panels.map(({ name }) => name) })
}

/** The search form of a page that shows a search. */
export function searchBarOptions({ panel }: Search, { base, labels, root }: PageSources): SearchBarOptions {
  return { base, root, labels, ...(panel !== null && { panel }) }
}

/** Answers with the requests that the query describes: without one, with the newest. */
export async function showSearch(
  request: FastifyRequest,
  reply: FastifyReply,
  sources: PageSources,
): Promise<FastifyReply> {
  const { archive, base } = sources
  const search = searchOf(request, sources)
  const { criteria, problems, panel } = search
  const token = tokenAlone(search)
  if (token !== null && (await archive.find(token)) !== null) {
    return reply.redirect(profileUrl(base, token, panel ?? undefined), 302)
  }
  const found = await archive.search(criteria)
  const result = { ...found, problems: [...problems, ...found.problems] }
  return sendFormats(request, reply, {
    html: () => renderSearchPage(result, searchBarOptions(search, sources), homeOf(search, sources)),
    json: () => result,
    markdown: () => renderSearchMarkdown(result, base),
  })
}

/** The token of a search for nothing else, which opens its profile; null otherwise. */
function tokenAlone({ criteria, problems }: Search): string | null {
  const { token, ...others }: SearchCriteria = criteria
  return token !== undefined && Object.keys(others).length === 0 && problems.length === 0 ? token : null
}

const minute = 60_000
const lengths: Record<Period, number> = { '15min': 15 * minute, '1h': 60 * minute, all: Infinity }

/** The overview of the home page; null for a search or all requests. Without recent requests it is about everything. */
function homeOf({ criteria, period }: Search, { editorUrl, root, store }: PageSources): HomeOverview | null {
  if (isSearch(criteria) || criteria.page !== undefined) return null
  const place = { editorUrl, root }
  const since = (period: Period) => overviewOf(store.summaries(), Date.now() - lengths[period])
  const overview = since(period ?? '15min')
  if (period !== null || overview.requests > 0) return { overview, period: period ?? '15min', place }
  return { overview: since('all'), period: 'all', place }
}

export function searchRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base, labels } = sources

  for (const path of [base, `${base}/search`]) {
    app.get(path, async function showRequests(request, reply) {
      return showSearch(request, reply, sources)
    })
  }

  app.get(`${base}/search_bar`, async function showSearchBar(request, reply) {
    const search = searchOf(request, sources)
    const { criteria, problems } = search
    return sendFormats(request, reply, {
      html: () =>
        renderDocument({
          title: 'Search · Profiler',
          className: 'part',
          style: linkStylesheet(assetUrl(base, 'profiler.css')),
          body: html`<main><h1>Search requests</h1>
${renderProblems(problems)}
${renderSearchBar(criteria, searchBarOptions(search, sources))}</main>`,
        }),
      json: () => ({ criteria, problems, labels }),
      markdown: () => `${blocks(...problems.map(plain), codeBlock(JSON.stringify(criteria, null, 2), 'json'))}\n`,
    })
  })
}

/** Browsers that may read at once. */
const readersMost = 50

/** The stream of new requests, for lists that follow them. */
export function eventRoutes(app: FastifyInstance, { app: profiled, base, labels, panels, store }: PageSources): void {
  const live = liveRowsOf(profiled)
  if (live === undefined) return
  const options = { exposeHeadRoute: false, onRequest: serverId(store) }
  app.get(`${base}/events`, options, async function followRequests(request, reply) {
    if (live.readers >= readersMost) {
      return reply.code(503).header('retry-after', '60').type('text/plain; charset=utf-8').send('Too many readers.\n')
    }
    const query = queryOf(request)
    const wanted = new Set(query.getAll('origin'))
    const origins = originsOf(labels).filter(({ name }) => wanted.has(name))
    const panel = panels.find(({ name }) => name === query.get('panel'))?.name
    // The command line shows rows of its own. Statements would fill the 64 kB of a reader.
    const rowOf =
      query.get('rows') === 'json'
        ? (summary: ProfileSummary) => JSON.stringify({ ...summary, statements: [] })
        : (summary: ProfileSummary) => renderProfileRow(summary, origins, { base, panel }).toString()
    reply.hijack()
    live.open(reply.raw, rowOf)
  })
  app.addHook('preClose', async function endEvents() {
    live.close()
  })
}

/** One warning for each invalid search parameter. */
function renderProblems(problems: readonly string[]): Markup {
  return html`${problems.map(problem => html`<p class="notice warning">${problem}</p>`)}`
}
