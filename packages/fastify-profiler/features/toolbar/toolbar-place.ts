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

/** What may follow the end of the body: its page's end, comments of text, and scripts that a server has added. */
const afterBody = /<\/html\s*>|<!--[^<]*?-->|<script\b.*?<\/script\s*>/gis

/**
 * The index of the last `</body>`. Null if there is none, or if anything else follows, since the tag then stands in a
 * script, a comment or an attribute. Such a page is better left unchanged.
 */
export function endOfBody(page: string): number | null {
  const last = [...page.matchAll(/<\/body\s*>/gi)].at(-1)
  if (last === undefined) return null
  // A </body> within a script, as of document.write, is no end of this page.
  const before = page.slice(0, last.index).toLowerCase()
  if (before.lastIndexOf('<script') > before.lastIndexOf('</script')) return null
  const rest = page.slice(last.index + last[0].length).replace(afterBody, '')
  return rest.trim() === '' ? last.index : null
}
