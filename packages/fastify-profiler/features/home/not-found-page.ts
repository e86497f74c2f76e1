import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyPanel } from '../../core/panel.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { renderEmptyState } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain } from '../../core/view/markdown.ts'
import type { PageSources } from '../../core/feature.ts'
import { renderPage } from '../../core/view/page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { profileUrl } from '../../core/view/urls.ts'
import { hatchPattern } from '../performance/waterfall.ts'
import { renderProfileList } from './profile-list.ts'
import { profilesMarkdown, renderSearchBox, type SearchBarOptions, searchBarOptions, searchOf } from './search-page.ts'

/** What the client requested but does not exist. */
export type Missing =
  | { what: 'profile'; token: string }
  | { what: 'panel'; token: string; panel: string; panels: ReadonlyArray<Pick<AnyPanel, 'name' | 'label'>> }
  | { what: 'exception'; token: string }
  | { what: 'samples'; token: string }
  | { what: 'running'; token: string }
  | { what: 'page'; path: string }
  | { what: 'pair' }

/** Says what is missing, and the likely reason. */
function missingText(missing: Missing): string {
  if (missing.what === 'panel') return `There is no panel "${missing.panel}".`
  if (missing.what === 'exception') return `Request ${missing.token} had no exception.`
  if (missing.what === 'samples') return `Request ${missing.token} has no samples.`
  if (missing.what === 'running') {
    return `Request ${missing.token} is still running. Its profile is stored after the response.`
  }
  if (missing.what === 'pair') {
    return 'A comparison needs two requests. Tick two of these, or name a route and a moment.'
  }
  if (missing.what === 'page') return `The profiler has no page "${missing.path}".`
  return `There is no profile "${missing.token}". It may have expired, or the token is wrong.`
}

/** The profiler's own 404 page: says what is missing and links to what exists. */
export function renderNotFoundPage(
  missing: Missing,
  newest: readonly ProfileSummary[],
  options: SearchBarOptions,
): string {
  const { base } = options
  return renderPage({
    title: 'Not found · Profiler',
    base,
    main: html`${hatchPattern}<h1>Not found</h1>
<p class="notice warning">${missingText(missing)}</p>
${renderOffer(missing, base)}
<h2>Latest requests</h2>
${renderSearchBox({}, options)}
${newest.length === 0 ? renderEmptyState('No requests stored.') : renderProfileList(newest, { base })}`,
  })
}

function renderOffer(missing: Missing, base: string): Markup | null {
  if (missing.what === 'exception' || missing.what === 'samples') {
    return html`<p><a href="${profileUrl(base, missing.token)}">Open the profile</a></p>`
  }
  if (missing.what !== 'panel') return null
  return html`<h2>Available panels</h2>
<ul class="offer">${missing.panels.map(
    ({ name, label }) => html`
<li><a href="${profileUrl(base, missing.token, name)}">${label}</a> <code>${name}</code></li>`,
  )}
</ul>`
}

/** The 404 page as Markdown. */
export function renderNotFoundMarkdown(missing: Missing, newest: readonly ProfileSummary[], base: string): string {
  return (
    blocks(
      '# Not found',
      plain(missingText(missing)),
      missing.what === 'panel' ? `Available panels: ${missing.panels.map(({ name }) => code(name)).join(', ')}` : null,
      newest.length === 0 ? null : blocks('## Latest requests', profilesMarkdown(newest, base)),
    ) + '\n'
  )
}

const newestShown = 10

/** Answers 404 with what is missing and what exists. */
export async function sendMissing(
  request: FastifyRequest,
  reply: FastifyReply,
  missing: Missing,
  sources: PageSources,
): Promise<FastifyReply> {
  const { archive, base, panels } = sources
  const { profiles } = await archive.search({ perPage: newestShown })
  return sendFormats(request, reply.code(404), {
    html: () => renderNotFoundPage(missing, profiles, searchBarOptions(searchOf(request, sources), sources)),
    json: () => ({
      error: missingText(missing),
      ...(missing.what === 'panel' && { panels: panels.map(({ name }) => name) }),
      newest: profiles,
    }),
    markdown: () => renderNotFoundMarkdown(missing, profiles, base),
  })
}

/** Answers 404 for a token that has no profile, or none yet. */
export function sendUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  sources: PageSources,
): Promise<FastifyReply> {
  const what = sources.archive.isRunning(token) ? 'running' : 'profile'
  return sendMissing(request, reply, { what, token }, sources)
}
