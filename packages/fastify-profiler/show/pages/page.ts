import { assetUrl } from '../parts/assets.ts'
import { linkStylesheet, renderDocument } from './document.ts'
import { html, type Content, type Markup } from '../../base/html.ts'
import { profileUrl } from '../parts/profile-url.ts'

/** The parts of every profiler page. */
export interface Page {
  title: string
  base: string
  /** The panel to open in other profiles. */
  panel?: string | undefined
  /** Between the top bar and the columns: what the page is about. */
  header?: Content
  /** The menu of panels, beside the content. */
  menu?: Markup
  main: Content
  /** Below the columns. */
  footer?: Content
}

/** A complete profiler page: top bar, header, menu and content. */
export function renderPage({ title, base, panel, header, menu, main, footer }: Page): string {
  const content = html`<main id="main" tabindex="-1">
${main}
</main>`
  return renderDocument({
    title,
    className: 'profiler',
    style: linkStylesheet(assetUrl(base, 'profiler.css')),
    script: assetUrl(base, 'profiler.js'),
    body: html`<a class="skip" href="#main">Skip to content</a>
${renderTopBar(base, panel, menu === undefined)}
${header}
${menu === undefined ? html`<div class="wide">${content}</div>` : html`<div class="layout">${menu}${content}</div>`}
${footer !== undefined && html`<footer class="bottom">${footer}</footer>`}`,
  })
}

/** Links to the other pages, and a search box unless the page has its own. */
export function renderTopBar(base: string, panel: string | undefined, searches: boolean): Markup {
  return html`<header class="top">
<a class="brand" href="${base}/">Profiler</a>
<nav aria-label="Profiler"><a href="${base}/">Home</a><a href="${profileUrl(base, 'latest', panel)}">Latest</a><a href="${base}/boot">Boot</a></nav>
${!searches && html`<form class="quick" action="${base}/search" role="search" aria-label="Search requests">${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}<input type="search" name="q" aria-label="Search requests" placeholder="Search: status:5xx route:/cart slower:100ms" maxlength="500"></form>`}
</header>`
}
