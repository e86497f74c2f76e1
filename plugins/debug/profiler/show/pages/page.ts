import { assetUrl } from '../parts/assets.ts'
import { linkStylesheet, renderDocument } from './document.ts'
import { html, type Content } from '../../base/html.ts'
import { profileUrl } from '../parts/profile-url.ts'

/** What every page of the profiler's own is made of. */
export interface Page {
  title: string
  base: string
  /** The panel in which other profiles are opened from here. */
  panel?: string | undefined
  /** Stands between the bar at the top and the columns: what the page is about. */
  header?: Content
  /** The column at the side: the menu of panels, the search form. */
  aside: Content
  main: Content
  /** Below everything. */
  footer?: Content
}

/** A whole document of the profiler's: bar at the top, side column, main part. */
export function renderPage({ title, base, panel, header, aside, main, footer }: Page): string {
  return renderDocument({
    title,
    className: 'profiler',
    style: linkStylesheet(assetUrl(base, 'profiler.css')),
    script: assetUrl(base, 'profiler.js'),
    body: html`<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="${base}/">Profiler</a>
<form class="quick" action="${base}/search" role="search" aria-label="Search by URL"><label class="sr-only" for="quick-url">Search by URL</label><input id="quick-url" type="search" name="url" placeholder="URL contains…" maxlength="200">${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}<button>Search</button></form>
<a href="${profileUrl(base, 'latest', panel)}">Latest</a>
</header>
${header}
<div class="body">
<div class="aside">${aside}</div>
<main id="main" tabindex="-1">
${main}
</main>
</div>
${footer !== undefined && html`<footer class="bottom">${footer}</footer>`}`,
  })
}
