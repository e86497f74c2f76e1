import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setHeader } from '../../core/foreign-value.ts'
import { asset, readFile, readStyle } from '../../core/view/page.ts'
import type { Exchange } from '../../core/watch/exchange.ts'

/** The toolbar with its stylesheet: the application's Content-Security-Policy would have to allow a linked one. */
export const toolbarScript = asset(
  'text/javascript; charset=utf-8',
  readFile('features/toolbar/toolbar.js').replace("'TOOLBAR_CSS'", () =>
    JSON.stringify(readStyle('features/toolbar/toolbar.css')),
  ),
)

/** Hash of the toolbar's script, for its tag and the page's policy. */
export const toolbarHash = `sha256-${createHash('sha256').update(toolbarScript.body).digest('base64')}`

const policyHeaders = ['content-security-policy', 'content-security-policy-report-only']
/** The first of these directives in a policy governs external scripts (CSP 3, section 6.8.3). */
const governing = ['script-src-elem', 'script-src', 'default-src']

/** Extends the application's policies to allow the toolbar's script by its hash, where they would block it. */
export function permitToolbar(response: ServerResponse): void {
  for (const name of policyHeaders) {
    const value = response.getHeader(name)
    if (value !== undefined) setHeader(response, name, [value].flat().join(', ').split(',').map(permitIn).join())
  }
}

/** After a 304 the browser applies this response's policy to the cached page and its toolbar. */
export function permitCachedToolbar({ response }: Exchange): void {
  if (response.statusCode === 304) permitToolbar(response)
}

/**
 * Whether the application's policies let the page send a request to its own origin. They are never extended for that:
 * a page that may not connect reports no errors.
 */
export function permitsReports(response: ServerResponse): boolean {
  return policyHeaders.every(name => {
    const value = response.getHeader(name)
    return value === undefined || [value].flat().join(', ').split(',').every(connectsToSelf)
  })
}

function connectsToSelf(policy: string): boolean {
  const governor = governorOf(directivesOf(policy), ['connect-src', 'default-src'])
  return governor === undefined || has(sourcesOf(governor), /^(?:'self'|\*)$/i)
}

function permitIn(policy: string): string {
  const directives = directivesOf(policy)
  const governor = governorOf(directives, governing)
  if (governor === undefined) return policy
  const sources = sourcesOf(governor).filter(source => source.toLowerCase() !== "'none'")
  if (has(sources, /^'self'$/i) && !has(sources, /^'strict-dynamic'$/i)) return policy
  // A hash would disable the page's 'unsafe-inline'.
  const isInlineAllowed = has(sources, /^'unsafe-inline'$/i) && !has(sources, /^'(?:nonce-|sha\d+-|strict-dynamic)/i)
  const permitted = ['script-src-elem', ...sources, isInlineAllowed ? "'self'" : `'${toolbarHash}'`].join(' ')
  return [...directives.filter(({ name }) => name !== 'script-src-elem').map(({ text }) => text), permitted].join('; ')
}

interface Directive {
  name: string
  text: string
}

function directivesOf(policy: string): Directive[] {
  return policy.split(';').map(text => ({ name: text.trim().replace(/\s.*/s, '').toLowerCase(), text: text.trim() }))
}

/** The directive that governs: the first of these names that the policy has. */
function governorOf(directives: readonly Directive[], names: readonly string[]): Directive | undefined {
  return names.map(name => directives.find(directive => directive.name === name)).find(found => found !== undefined)
}

function sourcesOf({ text }: Directive): string[] {
  return text.split(/\s+/).slice(1)
}

function has(sources: readonly string[], pattern: RegExp): boolean {
  return sources.some(source => pattern.test(source))
}

interface Tag {
  /** The index of its "<". */
  start: number
  /** The index of its ">". */
  end: number
  /** In lower case. */
  name: string
  closes: boolean
}

/** Elements whose content a browser parses as text. */
const textual = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noembed', 'noframes', 'noscript', 'xmp'])

const space = /[\t\n\f\r ]/

/** The tags of a page, as a browser parses it. Ends with null where browsers may disagree. */
function* tagsOf(page: string): Generator<Tag | null> {
  let start = page.indexOf('<')
  while (start !== -1) {
    const tag = tagAt(page, start)
    // Unclosed: it extends to the end of the page.
    if (tag?.end === -1) return
    if (tag !== null) yield tag
    const next = tag === null ? afterOther(page, start) : afterTag(page, tag)
    if (next === null) yield null
    if (next === null || next === -1) return
    start = page.indexOf('<', next)
  }
}

/** The tag at a "<"; null if none starts there. Its end is -1 if it has none. */
function tagAt(page: string, start: number): Tag | null {
  const closes = page[start + 1] === '/'
  const nameStart = start + (closes ? 2 : 1)
  if (!/[a-z]/i.test(page.charAt(nameStart))) return null
  const name = nameAt(page, nameStart)
  return { start, end: endOfTag(page, nameStart + name.length), name, closes }
}

/** Where markup goes on after a tag and the text of its element: -1 if nowhere, null if ambiguous. */
function afterTag(page: string, { name, closes, end }: Tag): number | null {
  if (closes) return end
  if (name === 'plaintext') return -1
  if (!textual.has(name)) return end
  const text = endOfText(page, name, end)
  return name === 'script' && isAmbiguous(page.slice(end, text === -1 ? undefined : text)) ? null : text
}

/** Where markup goes on after a comment, a declaration or a mere "<": -1 if nowhere, null if ambiguous. */
function afterOther(page: string, start: number): number | null {
  if (page.startsWith('<!--', start)) return endOfComment(page, start)
  // CDATA is text in SVG and MathML, but ends at the first ">" in HTML.
  if (page.startsWith('<![CDATA[', start)) return null
  return /[!?/]/.test(page.charAt(start + 1)) ? page.indexOf('>', start) : start + 1
}

function endOfComment(page: string, start: number): number {
  if (page.startsWith('<!-->', start) || page.startsWith('<!--->', start)) return start + 5
  const ends = ['-->', '--!>'].map(end => page.indexOf(end, start + 4)).filter(end => end !== -1)
  return ends.length === 0 ? -1 : Math.min(...ends)
}

function nameAt(page: string, start: number): string {
  let end = start
  while (end < page.length && !/[\t\n\f\r />]/.test(page.charAt(end))) end++
  return page.slice(start, end).toLowerCase()
}

/** The index of the ">" that ends a tag, after its attributes; -1 if there is none. */
function endOfTag(page: string, afterName: number): number {
  let at = afterName
  while (at < page.length) {
    while (space.test(page.charAt(at)) || page[at] === '/') at++
    if (page[at] === '>') return at
    // The first character belongs to the name, even if it is "=".
    at++
    while (at < page.length && !/[\t\n\f\r />=]/.test(page.charAt(at))) at++
    while (space.test(page.charAt(at))) at++
    if (page[at] !== '=') continue
    at++
    while (space.test(page.charAt(at))) at++
    const quote = page.charAt(at)
    if (quote === '"' || quote === "'") {
      at = page.indexOf(quote, at + 1) + 1
      if (at === 0) return -1
    } else {
      while (at < page.length && !/[\t\n\f\r >]/.test(page.charAt(at))) at++
    }
  }
  return -1
}

/** The index of the end tag of a text element; -1 if there is none. */
function endOfText(page: string, name: string, start: number): number {
  const pattern = new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi')
  pattern.lastIndex = start
  return pattern.exec(page)?.index ?? -1
}

/** A script with a comment and a nested script tag may end at either end tag. */
function isAmbiguous(script: string): boolean {
  return script.includes('<!--') && /<script[\t\n\f\r />]/i.test(script)
}

/**
 * The index of the last `</body>` that a browser takes for a tag: not in a script, a comment, an attribute or a
 * template. Null if there is none or the page is ambiguous, in which case it is better left unchanged.
 */
export function endOfBody(page: string): number | null {
  let last: number | null = null
  let templates = 0
  for (const tag of tagsOf(page)) {
    if (tag === null) return null
    const { start, name, closes } = tag
    if (name === 'template') templates = Math.max(0, templates + (closes ? -1 : 1))
    if (name === 'body' && closes && templates === 0) last = start
  }
  return last
}
