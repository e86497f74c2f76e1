import { styleHashes } from './page.ts'

/** What a page may load that says nothing else: this site's own files, and of styles within it those that are known. */
const contentSecurityPolicy = [
  "default-src 'self'",
  `style-src 'self' ${styleHashes.join(' ')}`,
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
]

/** The security headers of an HTML page. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy.join(';'),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  // A not-found message names the page of this site that led there.
  'referrer-policy': 'same-origin',
  // No Strict-Transport-Security: only whoever ends TLS knows whether all of a domain has it.
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
