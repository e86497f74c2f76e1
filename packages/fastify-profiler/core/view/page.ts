import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Asset, features } from '../feature.ts'
import { attempt, isRecord } from '../foreign-value.ts'
import { type Content, html, type Markup } from './html.ts'
import { profileUrl } from '../urls.ts'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

export function readFile(path: string): string {
  return readFileSync(new URL(import.meta.resolve(`#assets/${path}`)), 'utf8')
}

/** A stylesheet without comments and indentation: the error page includes its own. */
export function readStyle(path: string): string {
  return readFile(path)
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
}

export function asset(type: string, body: string): Asset {
  return { type, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 12) }
}

let stylesheet: Asset | undefined
let script: Asset | undefined

/** The files below `<base>/assets/`. Made when a page is first shown: the list of features is complete only then. */
export const assets = {
  get 'profiler.css'(): Asset {
    if (stylesheet !== undefined) return stylesheet
    const own = ['core/view/assets/language.css', 'core/view/assets/frame.css']
    const paths = [...own, ...features.flatMap(({ style }) => style ?? [])]
    return (stylesheet = asset('text/css; charset=utf-8', paths.map(readStyle).join('')))
  },
  get 'profiler.js'(): Asset {
    if (script !== undefined) return script
    const paths = ['core/view/assets/profiler.js', ...features.flatMap(({ script }) => script ?? [])]
    return (script = asset('text/javascript; charset=utf-8', paths.map(readFile).join('')))
  },
} as const

export function findAsset(name: string): Asset | undefined {
  const lists: Array<Record<string, Asset> | undefined> = [assets, ...features.map(({ assets }) => assets)]
  return lists.find(list => list !== undefined && Object.hasOwn(list, name))?.[name]
}

/** URL of an asset; its version lets browsers cache it forever. */
export function assetUrl(base: string, name: string): string {
  return `${base}/assets/${name}?v=${findAsset(name)?.version}`
}

interface Document {
  title: string
  /** Class of the body element, which scopes the styles. */
  className: string
  /** The stylesheet, linked or inlined. */
  style: Markup
  script?: string
  body: Markup
}

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

interface Page {
  title: string
  base: string
  /** The application's folder. */
  root: string
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
export function renderPage({ title, base, root, panel, header, menu, main, footer }: Page): string {
  const content = html`<main id="main" tabindex="-1">
${main}
</main>`
  return renderDocument({
    title,
    className: 'profiler',
    style: linkStylesheet(assetUrl(base, 'profiler.css')),
    script: assetUrl(base, 'profiler.js'),
    body: html`<a class="sr-only" href="#main">Skip to content</a>
${renderTopBar({ base, root }, panel, menu === undefined)}
${header}
${menu === undefined ? html`<div class="wide">${content}</div>` : html`<div class="layout">${menu}${content}</div>`}
${footer !== undefined && html`<footer class="bottom">${footer}</footer>`}`,
  })
}

/** The application's name, links to the other pages, and a search box unless the page has its own. */
export function renderTopBar(
  { base, root }: Pick<Page, 'base' | 'root'>,
  panel: string | undefined,
  searches: boolean,
): Markup {
  const name = applicationName(root)
  return html`<header class="top">
<a class="brand cut" href="${base}/">${name === null ? 'Profiler' : html`${name} <small>profiler</small>`}</a>
<nav aria-label="Profiler"><a href="${base}/">Home</a><a href="${profileUrl(base, 'latest', panel)}">Latest</a>${features.map(({ link }) => link !== undefined && html`<a href="${base}/${link.path}">${link.label}</a>`)}</nav>
${!searches && html`<form class="quick" action="${base}/search" role="search" aria-label="Search requests">${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}<input type="search" name="q" aria-label="Search requests" placeholder="Search: status:5xx route:/cart slower:100ms" maxlength="500"></form>`}
</header>`
}

function applicationName(root: string): string | null {
  const content = attempt((): unknown => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), null)
  return isRecord(content) && typeof content.name === 'string' && content.name !== '' ? content.name : null
}

const shared =
  "default-src 'none'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The Content-Security-Policy of the profiler's pages: own files only, nothing inline. */
export const profilerPolicy = `${shared}; style-src 'self'`

/** The policy of the error page: allows its inline stylesheet by hash. */
export function errorPagePolicy(): string {
  return `${shared}; ${inlinedStyle()}`
}

/** The policy of a profile that was saved as a file: its inline stylesheet, and nothing else. */
export function filePolicy(): string {
  return `default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; ${inlinedStyle()}`
}

function inlinedStyle(): string {
  return `style-src 'sha256-${createHash('sha256').update(assets['profiler.css'].body).digest('base64')}'`
}

const types = { 'application/json': 'json', 'text/html': 'html', 'text/markdown': 'markdown' } as const

type Form = (typeof types)[keyof typeof types]

/** The format that a client prefers; one that accepts anything (curl) gets JSON. */
export function preferredForm(raw: IncomingMessage): Form {
  const [best] = new Negotiator(raw).mediaTypes(Object.keys(types))
  return best === 'text/html' || best === 'text/markdown' ? types[best] : 'json'
}

interface Formats {
  html: () => string
  json: () => unknown
  markdown: () => string
}

export function sendFormats(request: FastifyRequest, reply: FastifyReply, page: Formats): FastifyReply {
  const form = preferredForm(request.raw)
  if (form === 'html') return reply.type('text/html; charset=utf-8').send(page.html())
  if (form === 'markdown') return reply.type('text/markdown; charset=utf-8').send(page.markdown())
  return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(page.json())}\n`)
}
