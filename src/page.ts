import { type Content, html, Markup } from './html.ts'

const style = new Markup(`
  :root { color-scheme: light dark; --ink: light-dark(#1c2128, #e6e9ee); --quiet: light-dark(#57606a, #9aa4b0); --line: light-dark(#d5dae1, #343b45); --ground: light-dark(#fbfbfa, #14171c); --link: light-dark(#0a57a4, #7cb8f2) }
  * { box-sizing: border-box }
  body { margin: 0; background: var(--ground); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif }
  main, header, footer { max-width: 44rem; margin: 0 auto; padding: 1.25rem clamp(1rem, 4vw, 2rem) }
  main { padding-top: clamp(2rem, 8vw, 5rem) }
  h1 { font-size: clamp(1.6rem, 5vw, 2.4rem); line-height: 1.2; margin: 0 0 1rem; text-wrap: balance }
  h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem }
  p, li, h1 { overflow-wrap: anywhere }
  a { color: var(--link); text-underline-offset: .2em }
  a:focus-visible { outline: 2px solid currentcolor; outline-offset: 3px; border-radius: 2px }
  ul.records { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line) }
  ul.records li { padding: .7rem 0; border-bottom: 1px solid var(--line) }
  nav ul { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; list-style: none; margin: 0; padding: 0 }
  nav a { display: inline-block; padding: .3rem 0 }
  nav [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none }
  .quiet, .status { color: var(--quiet) }
  .status { margin: 0; font-variant-numeric: tabular-nums }
`)

export interface Page {
  /** A BCP 47 tag. */
  language: string
  title: string
  /** What stands above the main part, if anything does. */
  header?: Content
  main: Content
}

/** A whole HTML document: one file, nothing else to load. */
export function renderPage ({ language, title, header, main }: Page): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${header !== undefined && html`<header>${header}</header>`}
<main>${main}</main>
</body>
</html>
`.toString()
}
