import { assetUrl } from '../parts/assets.ts'
import { linkStylesheet, renderDocument } from './document.ts'
import { html, type Content } from '../../base/html.ts'
import { profileUrl } from '../parts/profile-url.ts'

/** The parts of every profiler page. */
export interface Page {
  title: string
  base: string
  /** The panel to open in other profiles. */
  panel?: string | undefined
  /** Between the top bar and the columns: what the page is about. */
  header?: Content
  /** The side column: the panel menu or the search form. */
  aside: Content
  main: Content
  /** Below the columns. */
  footer?: Content
}

/** A complete profiler page: top bar, side column, main column. */
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
