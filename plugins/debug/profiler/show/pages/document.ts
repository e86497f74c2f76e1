import { html, type Markup } from '../../base/html.ts'

export interface Document {
  title: string
  /** Of the body: what the stylesheet tells its parts by. */
  className: string
  /** The stylesheet, linked or in place. */
  style: Markup
  script?: string
  body: Markup
}

/** A stylesheet at an address of its own. */
export function linkStylesheet(url: string): Markup {
  return html`<link rel="stylesheet" href="${url}">`
}

/** A whole document: the error page, a page of the profiler's, or a part of one that stands alone. */
export function renderDocument({ title, className, style, script, body }: Document): string {
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
