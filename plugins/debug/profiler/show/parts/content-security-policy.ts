import { createHash } from 'node:crypto'
import { assets } from './assets.ts'

const shared =
  "default-src 'none'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The Content-Security-Policy of the profiler's own pages: its files only, nothing inline. */
export const profilerPolicy = `${shared}; style-src 'self'`

/** The one of the error page, which carries its stylesheet within: that text and no other. */
export const errorPagePolicy = `${shared}; style-src 'sha256-${createHash('sha256').update(assets['error-page.css'].body).digest('base64')}'`
