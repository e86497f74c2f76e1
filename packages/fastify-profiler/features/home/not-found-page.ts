import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyPanel } from '../../core/panel.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { type Block, blocksHtml, blocksMarkdown, emptyBlocks, type Inline } from '../../core/view/block.ts'
import { noPlace } from '../../core/view/elements.ts'
import { html } from '../../core/view/html.ts'
import type { PageSources } from '../../core/feature.ts'
import { renderPage, sendFormats } from '../../core/view/page.ts'
import { profileUrl } from '../../core/urls.ts'
import { hatchPattern } from '../performance/waterfall.ts'
import { renderProfileList } from './profile-list.ts'
import { profilesMarkdown, renderSearchBox, type SearchBarOptions, searchBarOptions, searchOf } from './search-page.ts'

/** What the client requested but does not exist: a page, or a part of a profile. */
export type Missing =
  | { what: 'page'; path: string }
  /** With the profile that has not got it, or its panels. */
  | { what: 'part'; why: string; token?: string; panels?: ReadonlyArray<Pick<AnyPanel, 'name' | 'label'>> }

function missingText(missing: Missing): string {
  return missing.what === 'part' ? missing.why : `The profiler has no page "${missing.path}".`
}

/** The profiler's own 404 page: says what is missing, and what there is. */
function notFoundBlocks(missing: Missing, newest: readonly ProfileSummary[], options: SearchBarOptions): Block[] {
  const { base } = options
  const list =
    newest.length === 0
      ? emptyBlocks('No requests stored.')
      : [{ html: renderProfileList(newest, { base }), markdown: profilesMarkdown(newest, base) }]
  return [
    {
      section: 'Not found',
      blocks: [
        { notice: missingText(missing), tone: 'warning' },
        ...offerOf(missing, base),
        { section: 'Latest requests', blocks: [{ html: renderSearchBox({}, options), markdown: '' }, ...list] },
      ],
    },
  ]
}

export function renderNotFoundPage(
  missing: Missing,
  newest: readonly ProfileSummary[],
  options: SearchBarOptions,
): string {
  return renderPage({
    title: 'Not found · Profiler',
    base: options.base,
    root: options.root,
    main: html`${hatchPattern}${blocksHtml(notFoundBlocks(missing, newest, options), noPlace, 1)}`,
  })
}

function offerOf(missing: Missing, base: string): Block[] {
  if (missing.what !== 'part' || missing.token === undefined) return []
  const { panels, token } = missing
  if (panels === undefined) return [{ text: { link: 'Open the profile', to: profileUrl(base, token) } }]
  const columns = [{ label: 'Panel' }, { label: 'Name' }]
  const rows = panels.map(({ name, label }): Inline[] => [
    { link: label, to: profileUrl(base, token, name) },
    { code: name },
  ])
  return [{ section: 'Available panels', blocks: [{ title: 'Available panels', columns, rows }] }]
}

const newestShown = 10

/** Answers 404 with what is missing and what exists. */
export async function sendMissing(
  request: FastifyRequest,
  reply: FastifyReply,
  missing: Missing,
  sources: PageSources,
): Promise<FastifyReply> {
  const { profiles } = await sources.archive.search({ perPage: newestShown })
  const options = searchBarOptions(searchOf(request, sources), sources)
  return sendFormats(request, reply.code(404), {
    html: () => renderNotFoundPage(missing, profiles, options),
    json: () => ({
      error: missingText(missing),
      ...('panels' in missing && { panels: missing.panels.map(({ name }) => name) }),
      newest: profiles,
    }),
    markdown: () => `${blocksMarkdown(notFoundBlocks(missing, profiles, options), '', 1)}\n`,
  })
}

/** Answers 404 for a token that has no profile, or none yet. */
export function sendUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  sources: PageSources,
): Promise<FastifyReply> {
  const why = sources.archive.isRunning(token)
    ? `Request ${token} is still running. Its profile is stored after the response.`
    : `There is no profile "${token}". It may have expired, or the token is wrong.`
  return sendMissing(request, reply, { what: 'part', why }, sources)
}
