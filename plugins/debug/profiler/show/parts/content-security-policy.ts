import { createHash } from 'node:crypto'
import { assets } from './assets.ts'

const shared =
  "default-src 'none'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The Content-Security-Policy of the profiler's pages: own files only, nothing inline. */
export const profilerPolicy = `${shared}; style-src 'self'`

/** The policy of the error page: allows its inline stylesheet by hash. */
export const errorPagePolicy = `${shared}; style-src 'sha256-${createHash('sha256').update(assets['error-page.css'].body).digest('base64')}'`
