import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** One of the profiler's own files. */
export interface Asset {
  type: string
  body: string
  /** Hash of the body: a URL with the current version may be cached forever. */
  version: string
}

function read(name: string): string {
  return readFileSync(new URL(import.meta.resolve(`#assets/${name}`)), 'utf8')
}

/** A stylesheet without comments and indentation: the error page includes its own. */
function readStyle(name: string): string {
  return read(name)
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
}

function asset(type: string, body: string): Asset {
  return { type, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 12) }
}

const language = readStyle('language.css')
const frame = readStyle('frame.css')
const exception = readStyle('exception.css')

/** The files below `<base>/assets/`. Each stylesheet includes language.css, so that it works alone. */
export const assets = {
  'profiler.css': asset('text/css; charset=utf-8', language + frame + exception + readStyle('profiler.css')),
  'exception.css': asset('text/css; charset=utf-8', language + exception),
  'error-page.css': asset('text/css; charset=utf-8', language + frame + exception + readStyle('error-page.css')),
  'profiler.js': asset('text/javascript; charset=utf-8', read('profiler.js')),
  // The stylesheet is embedded: the application's Content-Security-Policy would have to allow a linked one.
  'toolbar.js': asset(
    'text/javascript; charset=utf-8',
    read('toolbar.js').replace("'TOOLBAR_CSS'", () => JSON.stringify(readStyle('toolbar.css'))),
  ),
} as const

export type AssetName = keyof typeof assets

/** URL of an asset; its version lets browsers cache it forever. */
export function assetUrl(base: string, name: AssetName): string {
  return `${base}/assets/${name}?v=${assets[name].version}`
}
