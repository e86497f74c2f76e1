import type { AnyPanel } from '../../collect/panel.ts'
import type { ProfileSummary } from '../../base/summary.ts'
import { hatchPattern } from '../parts/bar.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { blocks, code, plain } from '../markdown/markdown.ts'
import { renderPage } from './page.ts'
import { renderProfileList } from '../parts/profile-list.ts'
import { profileUrl } from '../parts/profile-url.ts'
import type { SearchBarOptions } from '../parts/search-bar.ts'
import { renderSearchBox } from './search-page.ts'
import { profilesMarkdown } from '../markdown/search-markdown.ts'

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
export function missingText(missing: Missing): string {
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
