import { styleHashes } from './site-page.ts'

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

/** The security headers of an HTML page. */
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
