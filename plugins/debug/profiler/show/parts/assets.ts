import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A file of the profiler's own, ready to be sent. */
export interface Asset {
  type: string
  body: string
  /** Changes with the body: what asks for this version may keep it for good. */
  version: string
}

function read(name: string): string {
  return readFileSync(new URL(import.meta.resolve(`#assets/${name}`)), 'utf8')
}

function asset(type: string, body: string): Asset {
  return { type, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 12) }
}

const language = read('language.css')
const exception = read('exception.css')

/** What stands below `<base>/assets/`. Each stylesheet brings the common language along, so that it can be used alone. */
export const assets = {
  'profiler.css': asset('text/css; charset=utf-8', language + exception + read('profiler.css')),
  'exception.css': asset('text/css; charset=utf-8', language + exception),
  'error-page.css': asset('text/css; charset=utf-8', language + exception + read('error-page.css')),
  'profiler.js': asset('text/javascript; charset=utf-8', read('profiler.js')),
  // A stylesheet made by script needs no permission of the application's Content-Security-Policy; a link would.
  'toolbar.js': asset(
    'text/javascript; charset=utf-8',
    read('toolbar.js').replace("'TOOLBAR_CSS'", () => JSON.stringify(read('toolbar.css'))),
  ),
} as const

export type AssetName = keyof typeof assets

/** Where a page finds an asset; the version makes it cacheable for good. */
export function assetUrl(base: string, name: AssetName): string {
  return `${base}/assets/${name}?v=${assets[name].version}`
}
