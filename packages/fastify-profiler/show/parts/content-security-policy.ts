import { createHash } from 'node:crypto'
import { assets, type AssetName } from './assets.ts'

const shared =
  "default-src 'none'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The Content-Security-Policy of the profiler's pages: own files only, nothing inline. */
export const profilerPolicy = `${shared}; style-src 'self'`

/** The policy of the error page: allows its inline stylesheet by hash. */
export const errorPagePolicy = `${shared}; ${inlined('error-page.css')}`

/** The policy of a profile that was saved as a file: its inline stylesheet, and nothing else. */
export const filePolicy = `default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; ${inlined('profiler.css')}`

function inlined(name: AssetName): string {
  return `style-src 'sha256-${createHash('sha256').update(assets[name].body).digest('base64')}'`
}
