import { createHash } from 'node:crypto'
import { memoize } from '../http/memoize.ts'
import { type Content, html, Markup } from './html.ts'

const style = new Markup(`
  :root { color-scheme: light dark; --ink: light-dark(#1c2128, #e6e9ee); --quiet: light-dark(#57606a, #9aa4b0);
    --line: light-dark(#d5dae1, #343b45); --ground: light-dark(#fbfbfa, #14171c); --link: light-dark(#0a57a4, #7cb8f2);
    --band: light-dark(#eaf1f8, #1b2633) }
  * { box-sizing: border-box }
  body { margin: 0; background: var(--ground); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif }
  main, header, footer { max-width: 44rem; margin: 0 auto; padding: 1.25rem clamp(1rem, 4vw, 2rem) }
  main { padding-top: clamp(2rem, 8vw, 5rem) }
  h1 { font-size: clamp(1.6rem, 5vw, 2.4rem); line-height: 1.2; margin: 0 0 1rem; text-wrap: balance }
  h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem }
  p, li, h1 { overflow-wrap: anywhere }
  p { text-wrap: pretty }
  a { color: var(--link); text-underline-offset: .2em }
  a:focus-visible, nav button:focus-visible { outline: 2px solid currentcolor; outline-offset: 3px; border-radius: 2px }
  ul.records { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line) }
  ul.records li { padding: .7rem 0; border-bottom: 1px solid var(--line) }
  nav ul { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; list-style: none; margin: 0; padding: 0 }
  main nav { margin-top: 1.5rem }
  nav a { display: inline-block; padding: .3rem 0 }
  nav button { border: 0; background: none; padding: .3rem 0; font: inherit; color: var(--link);
    text-decoration: underline; text-underline-offset: .2em; cursor: pointer }
  nav [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none }
  .notice { margin: 0 0 1rem; border-left: .25rem solid var(--link); padding: .3rem .9rem; background: var(--band) }
  .session, .session span { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center;
    justify-content: end; font-size: .95rem; overflow-wrap: anywhere; margin: 0 }
  .quiet, .status { color: var(--quiet) }
  .status { margin: 0; font-variant-numeric: tabular-nums }
`)

export const formStyle = new Markup(`
  :root { --edge: light-dark(#818b98, #6e7783); --field: light-dark(#fff, #1b2027);
    --problem: light-dark(#b3261e, #f2857c) }
  form { margin: 0 }
  .fields { display: grid; gap: .35rem; max-width: 26rem }
  .fields label:not(:first-of-type) { margin-top: .8rem }
  input, button, select, textarea { font: inherit; color: inherit; border: 1px solid var(--edge); border-radius: .4rem;
    background: var(--field); padding: .5rem .7rem; min-width: 0; max-width: 100% }
  select { height: 2.825rem }
  input[type=checkbox], input[type=radio] { accent-color: var(--link); width: 1.1rem; height: 1.1rem; margin: .25rem .3rem 0 0 }
  .choice, .choice label { display: flex; gap: .3rem; align-items: start }
  button { cursor: pointer }
  .session button { padding: .25rem .7rem }
  .fields button { margin-top: 1.2rem; justify-self: start; padding: .55rem 1.4rem;
    border-color: transparent; background: var(--link); color: var(--ground); font-weight: 600 }
  :is(input, button, select, textarea, summary):focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
  .problem { border-left: .25rem solid var(--problem); padding: .5rem .9rem; background: var(--field);
    max-width: 26rem }
`)

/** The rules of the admin pages come after those of forms. */
export const adminStyle = new Markup(`${formStyle.toString()}
  main, header { max-width: 72rem }
  main { padding-top: 1.5rem }
  .places { margin-top: 1rem; border-block: 1px solid var(--line); padding: .3rem 0; font-size: .95rem }
  h1 { font-size: 1.7rem }
  .row { display: flex; flex-wrap: wrap; gap: .8rem 1rem; align-items: end; margin: 1rem 0 }
  .row .field { margin: 0; flex: 0 1 14rem }
  .record { max-width: 40rem }
  .field, fieldset { display: grid; gap: .3rem; margin: 1.2rem 0; min-width: 0 }
  fieldset { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem 1rem }
  label, legend { font-weight: 600 }
  .choice label:first-child { flex: 1 }
  .choice, .choice label, .field .quiet, fieldset .quiet { font-weight: 400 }
  .field .quiet, fieldset .quiet { font-size: .9rem }
  .choices { max-height: 20rem; overflow-y: auto; display: grid; gap: .2rem }
  .choices .choice { flex-wrap: wrap; gap: 0 1.5rem }
  .find { display: flex; gap: .5rem }
  .find input { flex: 1 }
  summary { cursor: pointer; color: var(--link) }
  .wide:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
  .wrong { color: var(--problem) }
  [aria-invalid] { border-color: var(--problem) }
  .problem { max-width: none }
  .act { display: inline-block; border: 1px solid transparent; border-radius: .4rem; padding: .55rem 1.4rem;
    background: var(--link); color: var(--ground); font-weight: 600; text-decoration: none }
  .act.danger { background: var(--problem) }
  .wide { overflow-x: auto; margin: 1rem 0 }
  table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums }
  th, td { text-align: start; vertical-align: top; padding: .5rem 1.2rem .5rem 0; border-bottom: 1px solid var(--line);
    max-width: 24rem }
  thead th, time { white-space: nowrap }
  td dl { min-width: 18rem }
  dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .8rem; margin: 0 }
  dd { margin: 0; overflow-wrap: anywhere }
  ins { text-decoration: none }
  del { color: var(--quiet) }
  .secret { display: block; padding: .8rem 1rem; background: var(--band); overflow-wrap: anywhere; user-select: all }
`)

/** The hashes of all inline styles, for the Content-Security-Policy. */
const styleHashes = [style, formStyle, adminStyle].map(style => hashOf(style.toString()))

function hashOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}

export interface Page {
  language: string
  title: Content
  /** An additional style. It has to be one of the above, or the Content-Security-Policy blocks it. */
  style?: Markup | false
  header?: Content
  main: Content
}

/** Renders a self-contained HTML document. */
export function renderPage({ language, title, style: ownStyle, header, main }: Page): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>${
    ownStyle &&
    html`
<style>${ownStyle}</style>`
  }
</head>
<body>
${header !== undefined && html`<header>${header}</header>`}
<main>${main}</main>
</body>
</html>
`.toString()
}

/** Renders a page of a site with a heading and little else. @param name of the site */
export function renderSmallPage({
  locale,
  name,
  title,
  main,
  ...rest
}: Pick<Page, 'style' | 'header' | 'main'> & Record<'locale' | 'name' | 'title', string>): string {
  return renderPage({
    ...rest,
    language: locale,
    // An entity, because Node writes texts of ASCII faster.
    title: html`${title} &ndash; ${name}`,
    main: html`
      <p class="status">${name}</p>
      <h1>${title}</h1>
      ${main}`,
  })
}

/** The default policy: a page may load this site's files and use the known inline styles. */
const contentSecurityPolicy = [
  "default-src 'self'",
  `style-src 'self' ${styleHashes.join(' ')}`,
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
]

/** The policy of a page that has a style of its own, too. */
export const policyWith = memoize(
  (style: string) => contentSecurityPolicy.join(';').replace("style-src 'self'", `$& ${hashOf(style)}`),
  100,
)

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy.join(';'),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  // Not-found messages name the referring page, if it is on the same site.
  'referrer-policy': 'same-origin',
  // No Strict-Transport-Security: only the TLS terminator knows whether the whole domain uses TLS.
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
