import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { assets } from './assets.ts'

/** Of the toolbar's script, in its tag and in the policy of the page that it is put into. */
export const toolbarHash = `sha256-${createHash('sha256').update(assets['toolbar.js'].body).digest('base64')}`

const policyHeaders = ['content-security-policy', 'content-security-policy-report-only']
/** What governs a script with a URL: the first of these that a policy has (CSP 3, section 6.8.3). */
const governing = ['script-src-elem', 'script-src', 'default-src']

/** Has the application's own policies let in the toolbar's script, that very file, where they would not. */
export function permitToolbar(response: ServerResponse): void {
  for (const name of policyHeaders) {
    const value = response.getHeader(name)
    if (value !== undefined) response.setHeader(name, [value].flat().join(', ').split(',').map(permitIn).join())
  }
}

function permitIn(policy: string): string {
  const directives = policy
    .split(';')
    .map(text => ({ name: text.trim().split(/\s/, 1).join().toLowerCase(), text: text.trim() }))
  const [governor] = governing.flatMap(name => directives.find(directive => directive.name === name) ?? [])
  if (governor === undefined) return policy
  const sources = governor.text
    .split(/\s+/)
    .slice(1)
    .filter(source => source.toLowerCase() !== "'none'")
  if (has(sources, /^'self'$/i) && !has(sources, /^'strict-dynamic'$/i)) return policy
  // A hash would take back what 'unsafe-inline' allows the page.
  const isInlineAllowed = has(sources, /^'unsafe-inline'$/i) && !has(sources, /^'(?:nonce-|sha\d+-|strict-dynamic)/i)
  const permitted = ['script-src-elem', ...sources, isInlineAllowed ? "'self'" : `'${toolbarHash}'`].join(' ')
  return [...directives.filter(({ name }) => name !== 'script-src-elem').map(({ text }) => text), permitted].join('; ')
}

function has(sources: readonly string[], pattern: RegExp): boolean {
  return sources.some(source => pattern.test(source))
}
