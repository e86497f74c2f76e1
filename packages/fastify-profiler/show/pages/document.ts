import { html, type Markup } from '../../base/html.ts'

export interface Document {
  title: string
  /** Class of the body element, which scopes the styles. */
  className: string
  /** The stylesheet, linked or inlined. */
  style: Markup
  script?: string
  body: Markup
}

/** A link to an external stylesheet. */
export function linkStylesheet(url: string): Markup {
  return html`<link rel="stylesheet" href="${url}">`
}

/** A complete HTML document: the error page, a profiler page or a standalone panel. */
export function renderDocument({ title, className, style, script, body }: Document): string {
  // Without an icon, browsers request /favicon.ico, which would add a profile.
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${style}${
    script !== undefined &&
    html`
<script src="${script}" defer></script>`
  }
</head>
<body class="${className}">
${body}
</body>
</html>
`.toString()
}
