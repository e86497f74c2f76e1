import { assetUrl } from './assets.ts'
import { html, type Content } from './html.ts'

/** What every page of the profiler's own is made of. */
export interface Page {
  title: string
  base: string
  /** Stands between the bar at the top and the columns: what the page is about. */
  header?: Content
  /** The column at the side: the menu of panels, the search form. */
  aside: Content
  main: Content
  /** Below everything. */
  footer?: Content
}

/** A whole document of the profiler's: bar at the top, side column, main part. */
export function renderPage ({ title, base, header, aside, main, footer }: Page): string {
  // The empty icon keeps browsers from asking the application for one, which would be a profile more.
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetUrl(base, 'profiler.css')}">
<script src="${assetUrl(base, 'profiler.js')}" defer></script>
</head>
<body class="profiler">
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="${base}/">Profiler</a>
<form class="quick" action="${base}/search" role="search"><label class="sr-only" for="quick-url">Search by URL</label><input id="quick-url" type="search" name="url" placeholder="URL contains…" maxlength="200"><button>Search</button></form>
<a href="${base}/latest">Latest</a>
</header>
${header}
<div class="body">
<div class="aside">${aside}</div>
<main id="main" tabindex="-1">
${main}
</main>
</div>
${footer !== undefined && html`<footer class="bottom">${footer}</footer>`}
</body>
</html>
`.toString()
}
