import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Additions } from '../app.ts'
import { StartError } from '../src/errors/start-error.ts'

/**
 * What the site in the current folder adds to Portico: the export `site` of site.ts. Nothing in other folders.
 * @throws {StartError} if the site has not been built, or does not export it
 */
export async function readSite(): Promise<Additions> {
  const file = ['dist/site.js', 'site.js'].find(existsSync)
  if (file === undefined && existsSync('site.ts')) throw new StartError('site.ts has not been built: portico build.')
  if (file === undefined) return {}
  const module: unknown = await import(pathToFileURL(resolve(file)).href)
  if (!hasSite(module)) throw new StartError(`${file} must export "site", which says what it adds to Portico.`)
  return module.site
}

function hasSite(module: unknown): module is { site: Additions } {
  return typeof module === 'object' && module !== null && 'site' in module && typeof module.site === 'object'
}
