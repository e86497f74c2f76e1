import type { AnyPanel } from '../../collect/panel.ts'
import type { ProfileSummary } from '../../base/profile.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { blocks, code, plain } from '../markdown/markdown.ts'
import { renderPage } from './page.ts'
import { renderProfileList } from '../parts/profile-list.ts'
import { profileUrl } from '../parts/profile-url.ts'
import type { SearchBarOptions } from '../parts/search-bar.ts'
import { renderSearchFold } from '../parts/search-fold.ts'
import { profilesMarkdown } from '../markdown/search-markdown.ts'

/** What was asked for and is not there. */
export type Missing =
  | { what: 'profile'; token: string }
  | { what: 'panel'; token: string; panel: string; panels: ReadonlyArray<Pick<AnyPanel, 'name' | 'label'>> }
  | { what: 'exception'; token: string }
  | { what: 'running'; token: string }
  | { what: 'page'; path: string }

/** One sentence that says what is not there and why that may be. */
export function missingText(missing: Missing): string {
  if (missing.what === 'panel') return `There is no panel "${missing.panel}".`
  if (missing.what === 'exception') return `Request ${missing.token} had no exception.`
  if (missing.what === 'running') {
    return `Request ${missing.token} is still running: its profile comes when its answer is out.`
  }
  if (missing.what === 'page') return `The profiler has no page "${missing.path}".`
  return `There is no profile "${missing.token}": it may have expired, or never have been.`
}

/** The page of a 404 within the profiler: says what is missing and offers what there is. */
export function renderNotFoundPage(
  missing: Missing,
  newest: readonly ProfileSummary[],
  options: SearchBarOptions,
): string {
  const { base } = options
  return renderPage({
    title: 'Not found · Profiler',
    base,
    aside: renderSearchFold({}, options, newest.length === 0),
    main: html`<h1>Not found</h1>
<p class="notice warning">${missingText(missing)}</p>
${renderOffer(missing, base)}
<h2>Newest profiles</h2>
${newest.length === 0 ? renderEmptyState('No profile is stored.') : renderProfileList(newest, base)}`,
  })
}

function renderOffer(missing: Missing, base: string): Markup | null {
  if (missing.what === 'exception') {
    return html`<p><a href="${profileUrl(base, missing.token)}">Open its profile</a></p>`
  }
  if (missing.what !== 'panel') return null
  return html`<h2>Its panels</h2>
<ul class="offer">${missing.panels.map(
    ({ name, label }) => html`
<li><a href="${profileUrl(base, missing.token, name)}">${label}</a> <code>${name}</code></li>`,
  )}
</ul>`
}

/** The same as Markdown. */
export function renderNotFoundMarkdown(missing: Missing, newest: readonly ProfileSummary[], base: string): string {
  return (
    blocks(
      '# Not found',
      plain(missingText(missing)),
      missing.what === 'panel' ? `Its panels: ${missing.panels.map(({ name }) => code(name)).join(', ')}` : null,
      newest.length === 0 ? null : blocks('## Newest profiles', profilesMarkdown(newest, base)),
    ) + '\n'
  )
}
